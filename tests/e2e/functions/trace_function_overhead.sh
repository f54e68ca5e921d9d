#!/bin/sh
# `rubato trace --functions` lets some functions pass by unrecorded, says how many, and what a record costs where the
# program calls functions.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int leaf(int n) { return n * 3 + 1; }
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  volatile int n = 0;
  for (int i = 0; i < atoi(argv[1]); ++i) n = leaf(n);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
build_program app -finstrument-functions

# property NAME: of the archive, or nothing.
property() { otf2-print -I run.otf2dir/traces.otf2 | grep -A1 "RUBATO::$1\$" | awk 'END { print $NF }'; }

calls=400000
trace 2 --functions ./app $calls
check_archive
check_replay
# Each unrecorded call is one enter and one leave: 128 hooks are skipped, an even number, so that enters and leaves
# balance. main() is entered before MPI_Init, and left after MPI_Finalize.
records=$(count 'Region: "leaf"')
unrecorded=$(property UNRECORDED_FUNCTIONS)
[ "$((records + unrecorded))" = $((2 * 2 * calls)) ] ||
  fail "$records records and $unrecorded without one are not those of $calls calls on 2 ranks"
# One window of 128 in some 8192 records, for each rank: about 196.
[ "$unrecorded" -gt $((20 * 128)) ] && [ "$unrecorded" -lt $((400 * 128)) ] || fail "$unrecorded went unrecorded"
cost=$(property OVERHEAD_FUNCTION)
"$python" -c "import sys; sys.exit(not 1e-10 < $cost < 1e-6)" || fail "a record costs $cost s?"

# Of few calls, all are recorded.
trace 1 --functions ./app 1000
expect 2000 'Region: "leaf"'
pass
