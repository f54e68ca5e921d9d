#!/bin/sh
# When --memory is used up recording stops, the archive says so and is valid up to there.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  return 0;
}
C
run 2 "$rubato" trace -o run.otf2dir --memory 1MiB ./app 2>err.txt || fail "exit code $?"
[ "$(grep -c '^rubato: the trace stops early' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
check_archive
otf2-print -A run.otf2dir/traces.otf2 | grep -q 'false: the memory limit ended recording on 2 of 2' ||
  fail "the archive does not say that it stops early"
expect 2 '^MEASUREMENT_ON_OFF .*OFF'
[ "$(count '^ENTER')" -gt 100000 ] || fail "the memory was not used"
pass
