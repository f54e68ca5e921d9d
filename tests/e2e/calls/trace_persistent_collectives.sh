#!/bin/sh
# Persistent collectives: each start posts the number that the initialisation gave, each wait completes it.
# 4 ranks, 3 rounds of a broadcast (10 integers, so 160 bytes sent by the root and 40 received), an
# in-place allreduce (3 * 40) and a barrier, and a fourth of the broadcast alone.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif
int main(int argc, char** argv) {
  int a[10] = {0}, b[10] = {0}, x, rank;
  MPI_Request r[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast_init(a, 10, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Allreduce_init(MPI_IN_PLACE, b, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  MPI_Send_init(&rank, 1, MPI_INT, rank ^ 1, 1, MPI_COMM_WORLD, &r[3]);
  for (int i = 0; i < 3; ++i) {
    if (i < 2) MPI_Startall(4, r);
    else for (int k = 0; k < 4; ++k) MPI_Start(&r[k]);
    MPI_Recv(&x, 1, MPI_INT, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);  /* inactive: nothing completes */
  }
  MPI_Start(&r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  for (int k = 0; k < 4; ++k) MPI_Request_free(&r[k]);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
expect 40 '^NON_BLOCKING_COLLECTIVE_REQUEST '    # 4 ranks, 3 rounds, 3 operations, and 1
expect 40 '^NON_BLOCKING_COLLECTIVE_COMPLETE '
expect 4 '^NON_BLOCKING_COLLECTIVE_COMPLETE  *2 .*BCAST.*Root: 2 .*Sent: 160, Received: 40,'
expect 12 '^NON_BLOCKING_COLLECTIVE_COMPLETE  .*BCAST.*Root: 2 .*Sent: 0, Received: 40,'
expect 12 '^NON_BLOCKING_COLLECTIVE_COMPLETE  .*ALLREDUCE.*Sent: 120, Received: 120,'
expect 12 '^NON_BLOCKING_COLLECTIVE_COMPLETE  .*BARRIER.*Sent: 0, Received: 0,'
expect 12 '^MPI_ISEND_COMPLETE '
[ "$(awk '/^NON_BLOCKING_COLLECTIVE_REQUEST  *0 /{ print $NF }' print.txt | sort -u | wc -l)" = 3 ] ||
  fail "rank 0 has other than 3 request numbers"
check_replayed none
pass
