#!/bin/sh
# An output directory that exists, or cannot be created: refused before the program starts, and nothing
# is touched.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) { puts("started"); MPI_Init(&argc, &argv); return MPI_Finalize(); }
C
mkdir run.otf2dir
echo mine >run.otf2dir/traces.otf2
run 2 "$rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt && fail "not refused"
grep -qx started out.txt && fail "the program was started"
[ "$(grep -c 'rubato: error: .*run.otf2dir exists' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
# That mpirun ends the other rank is no news.
grep -q "rubato: terminated" err.txt && fail "message: $(cat err.txt)"
[ "$(cat run.otf2dir/traces.otf2)" = mine ] || fail "overwritten"
"$rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt && fail "not refused"
[ $? = 1 ] || true
[ "$(wc -l <err.txt)" = 1 ] || fail "message: $(cat err.txt)"

expect_failure 1 "new.otf2dir cannot be created in $work/nowhere: No such file or directory" \
  run 2 "$rubato" trace -o nowhere/new.otf2dir ./app
grep -qx started out.txt && fail "the program was started"

# A slash at the end is part of no name.
"$rubato" trace -o new.otf2dir/ ./app >out.txt 2>err.txt || fail "a slash: $(cat err.txt)"
"$rubato" info new.otf2dir/ >/dev/null || fail "no archive"
pass
