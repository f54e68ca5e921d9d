#!/bin/sh
# A full disk: the program ends normally, with one warning; nothing looks like a complete archive, and the records are
# kept until there is space.
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can mount a small file system"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, x = 0, n = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n; ++i) {
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 7;
}
C
mkdir disk
mount -t tmpfs -o size=2m tmpfs disk || skip "cannot mount a tmpfs"
unmount() { umount "$work/disk"; }
before_exit=unmount
# Full at the end of the files, in the middle of them, and from the start.
for messages in 40000 300000 1; do
  rm -rf disk/* disk/.??* elsewhere.otf2dir
  [ $messages = 1 ] && dd if=/dev/zero of=disk/filler bs=1k >/dev/null 2>&1 || true
  rc=0
  run 2 "$rubato" trace -o disk/run.otf2dir ./app $messages >out.txt 2>err.txt || rc=$?
  [ $rc = 7 ] || fail "exit code $rc with $messages messages: $(cat err.txt)"
  [ "$(grep -c '^rubato:' err.txt)" = 1 ] || fail "messages: $(cat err.txt)"
  grep -q '^rubato: the trace is incomplete' err.txt || fail "message: $(cat err.txt)"
  [ ! -e disk/run.otf2dir/traces.otf2 ] || fail "there is an anchor file"
  [ -e disk/run.otf2dir/INCOMPLETE ] || fail "no file INCOMPLETE"
  if [ $messages != 1 ]; then
    # There is no space yet ...
    expect_failure 1 'writing failed; the disk is full. Nothing is lost: free some space, or give another name with -o' "$rubato" recover disk/run.otf2dir
    [ -e disk/run.otf2dir/INCOMPLETE ] || fail "the failed attempt removed the note"
    # ... so write it elsewhere.
    "$rubato" recover disk/run.otf2dir -o elsewhere.otf2dir >out.txt || fail "recover: $(cat out.txt)"
  else
    # Even the note did not fit; the records are named by their own directory, and found by what they say.
    place=$(grep -l "$work/disk/run.otf2dir" /dev/shm/rubato-*/0.journal /tmp/rubato-*/0.journal 2>/dev/null || true)
    "$rubato" recover --keep "$(dirname "$place")" -o elsewhere.otf2dir >out.txt || fail "recover: $(cat out.txt)"
    rm -r elsewhere.otf2dir
    "$rubato" recover disk/run.otf2dir -o elsewhere.otf2dir >out.txt || fail "recover without a note: $(cat out.txt)"
    [ ! -e "$place" ] || fail "records are left in $place"
  fi
  # The message names the records; they are complete, and so is what was made of them.
  grep -q "records are kept (rank 0's in /[^ ]*/rubato-[^ ]*); free some space and run: rubato recover" err.txt ||
    fail "message: $(cat err.txt)"
  "$rubato" info elsewhere.otf2dir >out.txt || fail "info: $(cat out.txt)"
  ! grep -q incomplete out.txt || fail "info: $(cat out.txt)"
  otf2-print elsewhere.otf2dir/traces.otf2 >print.txt
  expect "$messages" '^MPI_SEND '
  expect "$messages" '^MPI_RECV '
  expect 2 '^LEAVE .*"MPI_Finalize"'
  rm print.txt
done

# Records on a disk that fills up: they cannot be moved, so recording stops.
rm -rf disk/* disk/.??*
run 2 "$rubato" trace -o stopped.otf2dir --records disk --when-full stop ./app 300000 2>err.txt || rc=$?
[ $rc = 7 ] || fail "exit code $rc: $(cat err.txt)"
grep -q '^rubato: the trace stops early: no more space for records on 2 of 2' err.txt || fail "message: $(cat err.txt)"
check_readable "the archive is not valid" stopped.otf2dir
# With somewhere to move them to, everything is there.
run 2 "$rubato" trace -o moved.otf2dir --records disk ./app 300000 2>err.txt || rc=$?
grep '^rubato:' err.txt >said.txt || true
one_report said.txt
otf2-print moved.otf2dir/traces.otf2 >print.txt
expect 300000 '^MPI_RECV '
[ -z "$(ls -A disk)" ] || fail "records are left: $(ls -A disk)"

# A file of sums is whole, or is not there.
dd if=/dev/zero of=disk/filler bs=1k >/dev/null 2>&1 || true
rc=0
run 2 "$rubato" trace --no-archive --report disk/sums.json ./app 10 2>err.txt || rc=$?
[ $rc = 7 ] || fail "exit code $rc: $(cat err.txt)"
[ "$(grep -c '^rubato: the sums could not be written to .*/disk/sums.json: No space left on device$' err.txt)" = 1 ] ||
  fail "message: $(cat err.txt)"
[ "$(ls -A disk)" = filler ] || fail "left: $(ls -A disk)"
pass
