#!/bin/sh
# Records of killed runs are listed, with the commands that build an archive from them or discard them. Records of live
# processes and of other machines are neither offered nor removed.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int i;
  MPI_Init(&argc, &argv);
  for (i = 0; i < 100; i++) MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && !strcmp(argv[1], "wait")) {
    /* Programs may close all their files, and with them the lock that tells of a process that lives. */
    if (argc > 2) for (i = 3; i < 1000; i++) close(i);
    sleep(60);
  }
  kill(getpid(), SIGKILL);
}
C
mkdir places
# listed NAME: the paragraph of that run's records in the list.
listed() {
  "$rubato" recover --list places >out.txt || fail "list: $(cat out.txt)"
  rm -f paragraph.txt
  for directory in places/rubato-*; do
    grep -qF "$work/$1" "$directory"/*.journal 2>/dev/null || continue
    sed -n "\\|^$work/$directory: |,/^[^ ]/p" out.txt | awk 'NR == 1 || /^ /' >paragraph.txt
    echo "$directory" >directory.txt
  done
  [ -s paragraph.txt ] || fail "$1 is not listed: $(cat out.txt)"
}
# gone NAME: nothing is left of it.
gone() {
  [ ! -e "$(cat directory.txt)" ] && [ ! -e "$1/INCOMPLETE" ] || fail "$1: left: $(ls -d places/* "$1")"
}
for run in one two three; do
  run 2 "$rubato" trace -o $run.otf2dir --records places ./app >mpi.txt 2>err.txt && fail "exit code 0"
done
sleep 1 # for processes that are killed
listed one.otf2dir
grep -Eq '^.*: ended .* ago, .*iB, ranks 0-1 of 2, \./app$' paragraph.txt || fail "$(cat paragraph.txt)"
[ "$(grep -c . paragraph.txt)" = 3 ] || fail "$(cat paragraph.txt)"
grep -qx "  trace:   rubato recover $work/one.otf2dir" paragraph.txt || fail "$(cat paragraph.txt)"
grep -qx "  discard: rubato recover --discard $work/$(cat directory.txt)" paragraph.txt || fail "$(cat paragraph.txt)"
# Both commands do so.
"$rubato" recover --discard "$(cat directory.txt)" >out.txt 2>&1 || fail "discard: $(cat out.txt)"
gone one.otf2dir
[ ! -e one.otf2dir ] || fail "left: $(ls -A one.otf2dir)"
listed two.otf2dir
"$rubato" recover two.otf2dir >out.txt 2>&1 || fail "recover: $(cat out.txt)"
gone two.otf2dir
check_readable two two.otf2dir
# By the name of the archive; if that is gone, the list says so, and the archive can be built elsewhere.
listed three.otf2dir
mv three.otf2dir moved
listed three.otf2dir
grep -qx "  trace:   rubato recover $work/$(cat directory.txt) -o NEW.otf2dir" paragraph.txt || fail "$(cat paragraph.txt)"
mv moved three.otf2dir
"$rubato" recover --discard three.otf2dir >out.txt 2>&1 || fail "discard by name: $(cat out.txt)"
gone three.otf2dir
"$rubato" recover --list places >out.txt || fail "list: $(cat out.txt)"
! grep -q "$work" out.txt || fail "still listed: $(cat out.txt)"

# Records of live processes, even if these have closed their lock file.
for how in "wait" "wait closed"; do
  # shellcheck disable=SC2086
  "$rubato" trace -o live.otf2dir --records places ./app $how >mpi.txt 2>&1 &
  process=$!
  tries=0
  until [ -e live.otf2dir/INCOMPLETE ] && [ -n "$(ls places/rubato-*/0.journal 2>/dev/null)" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "no records: $(cat mpi.txt)"
    sleep 0.1
  done
  sleep 1
  listed live.otf2dir
  grep -q ': still running, ' paragraph.txt && [ "$(grep -c . paragraph.txt)" = 1 ] || fail "$how: $(cat paragraph.txt)"
  expect_failure 1 "still runs" "$rubato" recover --discard "$(cat directory.txt)"
  expect_failure 1 "still runs" "$rubato" recover live.otf2dir
  [ -e live.otf2dir/INCOMPLETE ] || fail "the note is gone"
  kill -9 $process
  wait $process 2>/dev/null || true
  listed live.otf2dir
  grep -q ': ended ' paragraph.txt || fail "$how: $(cat paragraph.txt)"
  "$rubato" recover --discard "$(cat directory.txt)" >out.txt 2>&1 || fail "$how: $(cat out.txt)"
  gone live.otf2dir
done
# The file in which processes meet in MPI_Init, of a job that ended there: rank 0 waits for rank 1, which dies.
build_program half <<'C'
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  if (atoi(rank) == 1) sleep(2), kill(getpid(), SIGKILL);
  return MPI_Init(&argc, &argv);
}
C
run 2 "$rubato" trace -o half.otf2dir --records places ./half >mpi.txt 2>err.txt && fail "exit code 0"
sleep 1 # for processes that are killed
"$rubato" recover --list places >out.txt
grep -A1 "rubato-roll-call-.*: of a run that ended in MPI_Init, [0-9.]* KiB$" out.txt | tail -1 >left.txt
grep -q '^  discard: rubato recover --discard /dev/shm/rubato-roll-call-' left.txt || fail "$(cat left.txt)"
file=$(sed 's/.* //' left.txt)
"$rubato" recover --discard "$file" >out.txt 2>&1 || fail "$(cat out.txt)"
[ ! -e "$file" ] || fail "not discarded"
expect_failure 1 "none: no such directory" "$rubato" recover --list none
expect_failure 2 "expected a directory" "$rubato" recover --discard

# The number in the name of such a directory does not recur where the records of an earlier run are, even if the random
# numbers do (as in machines that are restored from an image).
cat >fixed.c <<'C'
#include <string.h>
#include <sys/types.h>
ssize_t getrandom(void* bytes, size_t size, unsigned flags) { memset(bytes, 0x5a, size); return size; }
C
cc -shared -fPIC -o fixed.so fixed.c
for run in first second; do
  run 2 env LD_PRELOAD="$work/fixed.so" "$rubato" trace -o $run.otf2dir --records places ./app >mpi.txt 2>err.txt && fail "exit code 0"
done
[ "$(ls -d places/rubato-* | wc -l)" = 2 ] || fail "directories: $(ls places)"
sleep 1
for run in first second; do
  "$rubato" recover $run.otf2dir >out.txt 2>&1 || fail "$run: $(cat out.txt)"
  grep -q 'of 2 of 2 ranks' out.txt || fail "$run: $(cat out.txt)"
  check_readable $run $run.otf2dir
done
pass
