#!/bin/sh
# --sync-every in a program whose collective calls fail on one rank only: the ranks still agree on the call in which
# they compare their clocks. sync_exceptions.sh has error handlers that throw.
. "$(dirname "$0")/../lib.sh"
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
[ "$(long_flushes 20)" -ge 4 ] || fail "no synchronisation"
pass
