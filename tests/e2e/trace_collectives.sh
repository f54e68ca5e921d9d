#!/bin/sh
# Sizes of collectives as Score-P counts them (logical bytes), also in place; 4 ranks, 10 integers.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int a[100] = {0}, b[100], rank, c[4] = {1, 2, 3, 4}, d[4] = {0, 1, 3, 6};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  MPI_Barrier(W);
  MPI_Bcast(a, 10, MPI_INT, 1, W);
  MPI_Scatter(a, 10, MPI_INT, b, 10, MPI_INT, 0, W);
  MPI_Gather(a, 10, MPI_INT, b, 10, MPI_INT, 0, W);
  MPI_Reduce(a, b, 10, MPI_INT, MPI_SUM, 0, W);
  MPI_Allreduce(a, b, 10, MPI_INT, MPI_SUM, W);
  MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_INT, MPI_SUM, W);
  MPI_Allgather(a, 10, MPI_INT, b, 10, MPI_INT, W);
  MPI_Alltoall(a, 10, MPI_INT, b, 10, MPI_INT, W);
  MPI_Gatherv(a, c[rank], MPI_INT, b, c, d, MPI_INT, 0, W);
  MPI_Scatterv(a, c, d, MPI_INT, b, c[rank], MPI_INT, 0, W);
  MPI_Allgatherv(a, c[rank], MPI_INT, b, c, d, MPI_INT, W);
  MPI_Reduce_scatter_block(a, b, 10, MPI_INT, MPI_SUM, W);
  MPI_Reduce_scatter(a, b, c, MPI_INT, MPI_SUM, W);
  MPI_Scan(a, b, 10, MPI_INT, MPI_SUM, W);
  MPI_Exscan(a, b, 10, MPI_INT, MPI_SUM, W);
  if (rank == 0) MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, b, 10, MPI_INT, 0, W);
  else MPI_Gather(a, 10, MPI_INT, 0, 0, MPI_INT, 0, W);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
# size RANK SENT RECEIVED OPERATION OCCURRENCES
size() {
  found=$(grep "^MPI_COLLECTIVE_END  *$1 " print.txt | grep "Operation: $4," | grep -c "Sent: $2, Received: $3\$" || true)
  [ "$found" = "${5:-1}" ] || fail "$4 on rank $1: no record with $2 bytes sent, $3 received"
}
expect 76 '^MPI_COLLECTIVE_BEGIN'
size 0 0 0 BARRIER
size 1 160 40 BCAST
size 0 0 40 BCAST
size 0 160 40 SCATTER
size 2 0 40 SCATTER
size 0 40 160 GATHER
size 3 40 0 GATHER 2
size 0 40 160 REDUCE
size 1 40 0 REDUCE
size 2 160 160 ALLREDUCE
size 2 120 120 ALLREDUCE
size 1 160 160 ALLGATHER
size 1 160 160 ALLTOALL
size 0 4 40 GATHERV
size 2 12 0 GATHERV
size 0 40 4 SCATTERV
size 3 0 16 SCATTERV
size 1 32 40 ALLGATHERV
size 1 160 160 REDUCE_SCATTER_BLOCK
size 2 40 48 REDUCE_SCATTER
size 1 120 80 SCAN
size 1 80 40 EXSCAN
size 0 0 120 GATHER
pass
