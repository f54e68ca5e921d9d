#!/bin/sh
# Programs that do not reach MPI_Finalize: their records become an archive that can be opened and replayed.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* A ring on communicators of its own, 500 rounds; then the end that the argument names. */
int main(int argc, char** argv) {
  int rank, size, x = 0;
  MPI_Comm ring, half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &ring);
  MPI_Comm_split(ring, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "half");
  for (int i = 0; i < 500; ++i) {
    MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 3, (rank + size - 1) % size, 3, ring,
                         MPI_STATUS_IGNORE);
    if (i % 100 == 0) MPI_Barrier(half);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    if (!strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(argv[1], "exit")) exit(4);
    if (!strcmp(argv[1], "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(argv[1], "term")) kill(getpid(), SIGTERM);
  }
  if (!strcmp(argv[1], "other") && rank == 2) kill(getpid(), SIGSEGV);
  if (!strcmp(argv[1], "all")) kill(getpid(), SIGKILL); /* every rank itself: the launcher is no part of it */
  if (!strcmp(argv[1], "exit")) exit(4);
  MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, ring, MPI_STATUS_IGNORE); /* until we are killed */
  return 0;
}
C
for end in abort exit kill term all other; do
  rm -rf run.otf2dir print.txt
  : >said.txt
  # (MPICH's launcher, when stopped, sometimes drops the last output of a rank, so that goes to a file there.)
  said=
  case $flavour/$end in mpich/abort | mpich/exit) said="2>>$work/said.txt" ;; esac
  run 4 "$rubato" trace -o run.otf2dir sh -c "exec ./app $end $said" >out.txt 2>err.txt && fail "$end: exit code 0"
  [ ! -e run.otf2dir/traces.otf2 ] || fail "$end: there is an archive"
  case $end in
    abort | exit)
      grep -q "rubato: the program .*: rubato recover $work/run.otf2dir" err.txt said.txt || fail "$end: $(cat err.txt said.txt)" ;;
    other)
      # Another rank than 0 died; the watcher of rank 0 prints the line, maybe after the launcher has ended.
      tries=0
      until grep -q "rubato: the program .*: rubato recover $work/run.otf2dir" err.txt; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "$end: $(cat err.txt)"
        sleep 0.1
      done ;;
  esac
  # The next run leaves it alone, says how to recover it, and takes another name.
  expect_failure 4 "run.otf2dir holds records of another run" run 1 "$rubato" trace -o run.otf2dir ./app exit
  "$rubato" recover --discard run-2.otf2dir >discard.txt 2>&1 || fail "discard: $(cat discard.txt)"
  recover_ended "$end"
  grep -q "events of 4 of 4 ranks, .*; next: rubato replay " out.txt || fail "$end: $(cat out.txt)"
  check_archive
  expect 2000 '^MPI_SEND '
  expect 2000 '^MPI_RECV '
  # 4 ranks: world and self, the copy, the half; Barriers: 5 on half, 1
  expect 16 '^COMM_CREATE '
  expect 24 '^LEAVE .*"MPI_Barrier"'
  [ "$(count 'Comm .*"half"')" -ge 1 ] || otf2-print -G run.otf2dir/traces.otf2 | grep -q '"half"' || fail "$end: no name"
  otf2-print -A run.otf2dir/traces.otf2 | grep -q 'false: recovered' || fail "$end: not said to be recovered"
  case $end in
    kill | term) grep -q "rank 1 was in MPI_" out.txt || fail "$end: $(cat out.txt)" ;;
  esac
  "$rubato" replay run.otf2dir --on measured --verify >out.txt 2>&1 || fail "$end: identity: $(cat out.txt)"
  "$rubato" replay run.otf2dir --on measured --on perfect >out.txt 2>&1 || fail "$end: $(cat out.txt)"
  [ ! -e run.otf2dir/INCOMPLETE ] || fail "$end: the note is left"
done

# A rank without records on this machine is reported, the others are recovered; only once.
rm -rf run.otf2dir print.txt
run 4 "$rubato" trace -o run.otf2dir --records "$work" ./app exit >out.txt 2>err.txt && fail "exit code 0"
place=$(echo "$work"/rubato-*)
mkdir node2
mv "$place"/3.* node2
cp -r run.otf2dir before
"$rubato" recover --keep run.otf2dir -o part.otf2dir >out.txt || fail "$(cat out.txt)"
grep -q "events of 3 of 4 ranks" out.txt || fail "$(cat out.txt)"
grep -q "rank 3 has no records: they were in $place on $(hostname)" out.txt || fail "$(cat out.txt)"
check_readable "the archive of three ranks is not valid" part.otf2dir
"$rubato" replay part.otf2dir --on perfect >out.txt 2>&1 || fail "$(cat out.txt)"
! otf2-print -G part.otf2dir/traces.otf2 | grep -q '"unknown"' || fail "the node of the missing rank was known"
"$rubato" recover run.otf2dir >out.txt || fail "$(cat out.txt)"
grep -q "events of 3 of 4 ranks" out.txt || fail "$(cat out.txt)"
grep -q "the records are kept" out.txt || fail "$(cat out.txt)"
"$rubato" recover run.otf2dir node2 >out.txt || fail "$(cat out.txt)"
grep -q "events of 4 of 4 ranks" out.txt || fail "$(cat out.txt)"
check_archive
[ ! -e "$place" ] || fail "records are left"
expect_failure 1 "nothing to recover" "$rubato" recover run.otf2dir
expect_failure 1 "no records here; there may be some in $place" "$rubato" recover before
expect_failure 1 "no such directory" "$rubato" recover nowhere

# Damaged records: cut, or overwritten. Never a crash.
run 2 "$rubato" trace -o cut.otf2dir --records "$work" ./app exit >out.txt 2>err.txt && fail "exit code 0"
place=$(echo "$work"/rubato-*)
for bytes in 0 10 64 100 5000 200000; do
  rm -rf try.otf2dir damaged
  cp -r "$place" damaged
  truncate -s $bytes damaged/0.0.records
  "$rubato" recover --keep damaged -o try.otf2dir >out.txt 2>&1 || fail "cut to $bytes: $(cat out.txt)"
  check_readable "cut to $bytes: not valid" try.otf2dir
done
for bytes in 0 10 17 100 5000; do
  rm -rf try.otf2dir damaged
  cp -r "$place" damaged
  truncate -s $bytes damaged/1.journal
  "$rubato" recover --keep damaged -o try.otf2dir >out.txt 2>&1 || fail "journal cut to $bytes: $(cat out.txt)"
  check_readable "journal cut to $bytes: not valid" try.otf2dir
done
pass
