#!/bin/sh
# --sync-every in a program whose collective calls fail on one rank only, and are left by an exception of an error
# handler: the ranks still agree on the call in which they compare their clocks.
. "$(dirname "$0")/../lib.sh"
command -v "mpicxx.$flavour" >/dev/null || skip "there is no mpicxx.$flavour"
cat >throws.cc <<'CC'
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

static void raise(MPI_Comm*, int* code, ...) { throw *code; }

int main(int argc, char** argv) {
  int rank, caught = 0, x[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(raise, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (int i = 0; i < 100; ++i) {
    try {
      MPI_Bcast(x, 2 - rank, MPI_INT, 0, MPI_COMM_WORLD);  // too long for rank 1
    } catch (int) {
      ++caught;
    }
    usleep(5000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf("%d %d\n", rank, caught);
  MPI_Finalize();
}
CC
"mpicxx.$flavour" -O1 -w -o throws throws.cc
printf '0 0\n1 100\n' >expected.txt
code=0
run 2 timeout 20 ./throws >plain.txt 2>&1 || code=$?
[ $code != 124 ] || fail "the untraced program hangs"
[ $code = 0 ] || skip "this MPI passes no exceptions on: $(tail -1 plain.txt)"
sort plain.txt | cmp -s - expected.txt || skip "this MPI sees no error: $(cat plain.txt)"
trace 2 --clock monotonic --clock-domain rank --sync-every 0.05 timeout 20 ./throws >out.txt || fail "exit code $?"
sort out.txt | cmp - expected.txt || fail "results: $(cat out.txt)"
check_readable
[ "$(long_flushes 20)" -ge 4 ] || fail "no synchronisation"
pass
