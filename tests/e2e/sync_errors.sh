#!/bin/sh
# --sync-every in a program whose collective calls fail on one rank only: the ranks still agree on the call in which
# they compare their clocks. Also where the call that failed is left by an exception of an error handler.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, failed = 0, x[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 100; ++i) {
    failed += MPI_Bcast(x, 2 - rank, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS; /* too long for rank 1 */
    usleep(5000);
    /* and one that MPI refuses on rank 1 before it talks to anybody */
    if (rank == 1 && i % 7 == 0) failed += MPI_Bcast(x, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("%d %d\n", rank, failed);
  MPI_Finalize();
  return 0;
}
C
run 2 timeout 20 ./app >plain.txt 2>&1 || skip "the program does not work without the tracer"
printf '0 0\n1 115\n' >expected.txt
sort plain.txt | cmp -s - expected.txt || skip "this MPI sees no error: $(cat plain.txt)"
trace 2 --clock monotonic --clock-domain rank --sync-every 0.05 timeout 20 ./app >out.txt || fail "exit code $?"
sort out.txt | cmp - expected.txt || fail "results: $(cat out.txt)"
check_readable
[ "$(count '^BUFFER_FLUSH')" -ge 4 ] || fail "no synchronisation"

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
run 2 timeout 20 ./throws >plain.txt 2>&1 || skip "this MPI passes no exceptions on: $(tail -1 plain.txt)"
sort plain.txt | cmp -s - expected.txt || skip "this MPI sees no error: $(cat plain.txt)"
trace 2 --clock monotonic --clock-domain rank --sync-every 0.05 timeout 20 ./throws >out.txt || fail "exceptions: exit code $?"
sort out.txt | cmp - expected.txt || fail "results: $(cat out.txt)"
check_readable
[ "$(count '^BUFFER_FLUSH')" -ge 4 ] || fail "exceptions: no synchronisation"
pass
