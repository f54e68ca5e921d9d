#!/bin/sh
# A program with its own MPI library, as with Spack: the library is in a separate prefix, which the program finds by
# RPATH. The tracer brings no MPI library that could conflict, and determines the flavour from the program's.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv_replace(&x, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
library=$(ldd app | awk '$1 ~ /^libmpi(ch)?\.so/ { print $1, $3 }' | head -1)
[ -n "$library" ] || skip "the program has no libmpi of its own"
mkdir -p prefix/lib
cp -L "${library#* }" "prefix/lib/${library% *}"
"mpicc.$flavour" -O1 -w -o app app.c -Wl,--disable-new-dtags -Wl,-rpath,"$work/prefix/lib"
ldd app | grep -q "=> $work/prefix/lib/" || fail "the program does not take its own library: $(ldd app)"
trace 2 ./app >out.txt 2>err.txt || fail "$(cat err.txt)"
one_report err.txt
check_archive
check_replay
expect 2 '^MPI_SEND '
expect 2 '^LEAVE .*"MPI_Finalize"'
pass
