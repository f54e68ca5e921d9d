#!/bin/sh
# However a program ends without MPI_Finalize: the launcher's exit code is the one without the tracer, and one line
# a job says what was recorded.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* APP RANK END: that rank ends so, all of them with "all"; the others wait for it. */
static void in_handler(int signal) { MPI_Abort(MPI_COMM_WORLD, 42); }
int main(int argc, char** argv) {
  int rank, x = 1, y;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGUSR1, in_handler);
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(argv[1], "all") || atoi(argv[1]) == rank) {
    if (!strcmp(argv[2], "MPI_Abort")) MPI_Abort(MPI_COMM_WORLD, 42);
    if (!strcmp(argv[2], "handler")) raise(SIGUSR1);
    if (!strcmp(argv[2], "exit")) exit(9);
    if (!strcmp(argv[2], "_exit")) _exit(9);
    if (!strcmp(argv[2], "abort")) abort();
    if (!strcmp(argv[2], "quick_exit")) quick_exit(5);
    if (!strcmp(argv[2], "segv")) raise(SIGSEGV);
    if (!strcmp(argv[2], "kill")) raise(SIGKILL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
C
# said NUMBER: so many lines, of a watcher maybe a moment later.
said() {
  tries=0
  until [ "$(grep -c '^rubato: ' err.txt)" -ge "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || return 0
    sleep 0.1
  done
}
# bare RANK END RUNS: the exit codes of runs without the tracer. (Launchers have races of their own: hydra keeps 1
# for a rank whose socket closes, and replaces it by the true code if that comes in time.)
bare() {
  [ "$flavour" != mpich ] || echo 1
  for _ in $(seq "$3"); do
    code=0
    timeout 60 "mpirun.$flavour" -n 2 ./app "$1" "$2" >/dev/null 2>&1 || code=$?
    echo $code
  done | sort -u
}

for end in abort quick_exit exit _exit segv kill MPI_Abort handler; do
  expected=$(bare 1 $end 2)
  rm -rf run.otf2dir
  code=0
  timeout 60 "mpirun.$flavour" -n 2 "$rubato" trace -o run.otf2dir ./app 1 $end >out.txt 2>err.txt || code=$?
  # (A rare code: hydra answers 15 in one of 12 runs of abort() without the tracer.)
  echo "$expected" | grep -qx $code || expected=$(bare 1 $end 60)
  echo "$expected" | grep -qx $code || fail "$end: exit code $code, without the tracer $expected"
  said 1
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] || fail "$end: not one line: $(cat err.txt)"
  case $end in
    MPI_Abort | handler) what='the program called MPI_Abort' ;;
    *) what='the program ended without MPI_Finalize' ;;
  esac
  grep -q "^rubato: $what; .*: rubato recover $work/run.otf2dir$" err.txt || fail "$end: $(cat err.txt)"
done

# Any rank may call MPI_Abort, or all may.
for who in 0 1 all; do
  rm -rf run.otf2dir
  run 4 "$rubato" trace -o run.otf2dir ./app $who MPI_Abort >out.txt 2>err.txt && fail "exit code 0"
  said 2
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] || fail "$who: not one line: $(cat err.txt)"
  grep -q '^rubato: the program called MPI_Abort; ' err.txt || fail "$who: $(cat err.txt)"
  # The mark of the aborting rank is removed with the rest.
  tries=0
  until "$rubato" recover run.otf2dir >out.txt 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || fail "$who: $(cat out.txt)"
    sleep 0.2
  done
  [ "$(ls run.otf2dir)" = "$(printf 'traces\ntraces.def\ntraces.otf2')" ] || fail "$who: $(ls run.otf2dir)"
done
for who in 0 1 all; do
  run 2 "$rubato" trace --no-archive ./app $who MPI_Abort >out.txt 2>err.txt && fail "exit code 0"
  said 1
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] && grep -q '^rubato: no summary: ' err.txt ||
    fail "no archive, $who: $(cat err.txt)"
done
pass
