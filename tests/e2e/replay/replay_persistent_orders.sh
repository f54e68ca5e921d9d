#!/bin/sh
# Persistent collectives that ranks start in different orders: MPI requires the same order only for their
# initialisation. 4 ranks, 3 rounds of a broadcast, an allreduce and a barrier that each rank starts in a different
# order, and one on another communicator between them.
. "$(dirname "$0")/../lib.sh"
[ "$flavour" = mpich ] || skip "Open MPI 4 has no persistent collectives but its own"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int a[10] = {0}, b[10] = {0}, rank;
  MPI_Request r[4];
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  /* rank 1 alone has one on its own before, whose number the others do not have */
  if (rank == 1) MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &r[3]), MPI_Request_free(&r[3]);
  MPI_Bcast_init(a, 10, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Allreduce_init(a, b, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Barrier_init(half, MPI_INFO_NULL, &r[3]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) MPI_Start(&r[(k + rank + i) % 4]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  }
  for (int k = 0; k < 4; ++k) MPI_Request_free(&r[k]);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
expect 48 '^NON_BLOCKING_COLLECTIVE_REQUEST '    # 4 ranks, 3 rounds, 4 operations
expect 24 'RUBATO_INIT_ORDER.*; 1)'                # the broadcast and the one on half of the ranks
expect 12 'RUBATO_INIT_ORDER.*; 3)'
check_replayed none
pass
