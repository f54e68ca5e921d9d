#!/bin/sh
# Sizes of collectives as Score-P counts them (logical bytes), also in place; 4 ranks.
. "$(dirname "$0")/../lib.sh"
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
check_replayed none

# In place, every collective that may be: with blocks of b bytes and N = 4, one block less in each number. So
# many integers a block that no two of them have the same bytes.
build_program in_place <<'C'
#include <mpi.h>
#define W MPI_COMM_WORLD
#define HERE MPI_IN_PLACE
#define INT MPI_INT
int main(int argc, char** argv) {
  int b[100] = {0}, rank, c[4] = {1, 2, 3, 4}, d[4] = {0, 1, 3, 6}, v[4], w[4], at[4] = {0};
  MPI_Datatype types[4] = {INT, INT, INT, INT};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  for (int i = 0; i < 4; ++i) {  /* as much from i to j as from j to i */
    v[i] = rank + i;
    w[i] = rank + i + 1;
  }
  MPI_Allreduce(HERE, b, 10, INT, MPI_SUM, W);
  MPI_Allgather(HERE, 0, INT, b, 11, INT, W);
  MPI_Alltoall(HERE, 0, INT, b, 12, INT, W);
  if (rank == 0) MPI_Scatter(b, 13, INT, HERE, 0, INT, 0, W);
  else MPI_Scatter(0, 0, INT, b, 13, INT, 0, W);
  if (rank == 0) MPI_Reduce(HERE, b, 14, INT, MPI_SUM, 0, W);
  else MPI_Reduce(b, 0, 14, INT, MPI_SUM, 0, W);
  MPI_Reduce_scatter_block(HERE, b, 15, INT, MPI_SUM, W);
  MPI_Scan(HERE, b, 16, INT, MPI_SUM, W);
  MPI_Exscan(HERE, b, 17, INT, MPI_SUM, W);
  if (rank == 1) MPI_Gather(HERE, 0, INT, b, 18, INT, 1, W);
  else MPI_Gather(b, 18, INT, 0, 0, INT, 1, W);
  if (rank == 0) MPI_Gatherv(HERE, 0, INT, b, c, d, INT, 0, W);
  else MPI_Gatherv(b, c[rank], INT, 0, 0, 0, INT, 0, W);
  if (rank == 2) MPI_Scatterv(b, c, d, INT, HERE, 0, INT, 2, W);
  else MPI_Scatterv(0, 0, 0, INT, b, c[rank], INT, 2, W);
  MPI_Allgatherv(HERE, 0, INT, b, c, d, INT, W);
  MPI_Reduce_scatter(HERE, b, c, INT, MPI_SUM, W);
  MPI_Alltoallv(HERE, 0, 0, INT, b, v, at, INT, W);
  MPI_Alltoallw(HERE, 0, 0, 0, b, w, at, types, W);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./in_place
check_archive
expect 68 '^MPI_COLLECTIVE_BEGIN'   # 15, MPI_Init and MPI_Finalize
size 3 120 120 ALLREDUCE            # 3 * 40
size 1 132 132 ALLGATHER            # 3 * 44
size 2 144 144 ALLTOALL             # 3 * 48
size 0 156 0 SCATTER                # 3 * 52
size 1 0 52 SCATTER
size 0 0 168 REDUCE                 # 3 * 56
size 3 56 0 REDUCE
size 3 180 180 REDUCE_SCATTER_BLOCK # 3 * 60
size 0 192 0 SCAN                   # to the 3, 2, 1 and 0 ranks above, from those below
size 1 128 64 SCAN
size 3 0 192 SCAN
size 1 136 68 EXSCAN                # in which a rank's block is not for itself anyway
size 3 0 204 EXSCAN
size 1 0 216 GATHER                 # 3 * 72
size 0 72 0 GATHER
size 0 0 36 GATHERV                 # 8 + 12 + 16
size 1 8 0 GATHERV
size 2 28 0 SCATTERV                # 4 + 8 + 16
size 3 0 16 SCATTERV
size 0 12 36 ALLGATHERV             # its own to 3; 8 + 12 + 16
size 1 24 32 ALLGATHERV
size 2 28 36 REDUCE_SCATTER         # 4 + 8 + 16 for the others, 3 blocks of 12 from them
size 1 32 32 ALLTOALLV              # 4 * (1 + 3 + 4), less the 2 of its own
size 1 44 44 ALLTOALLW              # 4 * (2 + 4 + 5)
# All ranks say so of the nine collectives that all do in place (of an exscan it makes no difference), the root of five.
expect 41 "RUBATO_IN_PLACE.*UINT8; 1"
check_replayed none
pass
