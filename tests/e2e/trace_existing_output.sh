#!/bin/sh
# An output directory that exists: refused before the program starts, nothing in it touched.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) { puts("started"); MPI_Init(&argc, &argv); return MPI_Finalize(); }
C
mkdir run.otf2dir
echo mine >run.otf2dir/traces.otf2
trace 2 ./app >out.txt 2>err.txt && fail "not refused"
grep -q started out.txt && fail "the program was started"
[ "$(grep -c 'rubato: error: .*run.otf2dir exists' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
[ "$(cat run.otf2dir/traces.otf2)" = mine ] || fail "overwritten"
"$rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt && fail "not refused"
[ $? = 1 ] || true
[ "$(wc -l <err.txt)" = 1 ] || fail "message: $(cat err.txt)"
pass
