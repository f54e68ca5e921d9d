#!/bin/sh
# Intercommunicators: both groups, messages and collectives between them, the roots OTF2 has for them.
# Not read with python3-otf2, which cannot open any archive with such a definition (3.0.2 takes group B
# for the parent).
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0, y;
  MPI_Comm half, inter, merged;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);  /* {0,2} and {1,3} */
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
  int me;
  MPI_Comm_rank(inter, &me);
  MPI_Sendrecv(&x, 1, MPI_INT, me, 1, &y, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
  MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, inter);
  MPI_Intercomm_merge(inter, 0, &merged);
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_readable
[ "$(otf2-print -G run.otf2dir/traces.otf2 | grep -c '^INTER_COMM ')" = 1 ] || fail "definition"
expect 4 '^MPI_SEND '
expect 4 '^MPI_RECV '
expect 1 'BCAST.*Root: SELF, Sent: 8, Received: 0'
expect 1 'BCAST.*Root: THIS_GROUP, Sent: 0, Received: 0'
expect 2 'BCAST.*Root: 0 .*Sent: 0, Received: 4'
expect 4 'ALLREDUCE.*Sent: 8, Received: 8'
check_replayed none

# All other collectives there are between groups: a of ranks 0, 2 and 4, b of ranks 1 and 3. Rooted ones go
# from, or to, a's first. Each count of a group says how many integers one of its members names.
build_program collectives <<'C'
#include <mpi.h>
#define INT MPI_INT
int main(int argc, char** argv) {
  int rank, me, x[100] = {0}, y[100];
  MPI_Comm half, inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int b = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, b, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, b ? 0 : 1, 5, &inter);
  MPI_Comm_rank(inter, &me);
  int root = b ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Barrier(inter);
  MPI_Scatter(x, 3, INT, y, 3, INT, root, inter);
  int toward[2] = {1, 2}, at[3] = {0, 10, 20};
  MPI_Scatterv(x, toward, at, INT, y, me + 1, INT, root, inter);
  MPI_Gather(x, 5, INT, y, 5, INT, root, inter);
  int from[2] = {3, 4};
  MPI_Gatherv(x, me + 3, INT, y, from, at, INT, root, inter);
  MPI_Reduce(x, y, 6, INT, MPI_SUM, root, inter);
  MPI_Allgather(x, b ? 3 : 2, INT, y, b ? 2 : 3, INT, inter);
  int of_a[3] = {1, 2, 3}, of_b[2] = {5, 6};
  MPI_Allgatherv(x, b ? of_b[me] : of_a[me], INT, y, b ? of_a : of_b, at, INT, inter);
  MPI_Alltoall(x, b ? 8 : 7, INT, y, b ? 7 : 8, INT, inter);
  /* the i-th of a sends i + j + 1 to the j-th of b, which sends 2 * (i + j) + 1 */
  int less[3], more[3], bytes[3] = {0, 40, 80}, three[3] = {3, 3, 3};
  MPI_Datatype types[3] = {MPI_CHAR, MPI_CHAR, MPI_CHAR};
  for (int k = 0; k < 3; ++k) {
    less[k] = me + k + 1;
    more[k] = 2 * (me + k) + 1;
  }
  MPI_Alltoallv(x, b ? more : less, at, INT, y, b ? less : more, at, INT, inter);
  /* the same to b as bytes, and 3 bytes to each of a */
  MPI_Alltoallw(x, b ? three : less, bytes, types, y, b ? less : three, bytes, types, inter);
  int kept_by_a[3] = {1, 2, 3}, kept_by_b[2] = {2, 4};  /* 6 integers in all, for each side */
  MPI_Reduce_scatter(x, y, b ? kept_by_b : kept_by_a, INT, MPI_SUM, inter);
  MPI_Reduce_scatter_block(x, y, b ? 3 : 2, INT, MPI_SUM, inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 5 ./collectives
check_readable
# size RANK ROOT SENT RECEIVED OPERATION
size() {
  found=$(count "^MPI_COLLECTIVE_END  *$1 .*Operation: $5,.*Root: $2.*, Sent: $3, Received: $4\$")
  [ "$found" = 1 ] || fail "$5 on rank $1: no record with $3 bytes sent, $4 received, root $2"
}
size 4 NONE 0 0 BARRIER
size 0 SELF 24 0 SCATTER           # 2 * 12
size 2 THIS_GROUP 0 0 SCATTER
size 3 0 0 12 SCATTER
size 0 SELF 12 0 SCATTERV          # 4 + 8
size 4 THIS_GROUP 0 0 SCATTERV
size 3 0 0 8 SCATTERV
size 0 SELF 0 40 GATHER            # 2 * 20
size 2 THIS_GROUP 0 0 GATHER
size 1 0 20 0 GATHER
size 0 SELF 0 28 GATHERV           # 12 + 16
size 2 THIS_GROUP 0 0 GATHERV
size 3 0 16 0 GATHERV
size 0 SELF 0 48 REDUCE            # 2 * 24
size 4 THIS_GROUP 0 0 REDUCE
size 1 0 24 0 REDUCE
# each member of a to 2, each of b to 3
size 2 NONE 16 24 ALLGATHER   # 2 * 8; 2 * 12
size 1 NONE 36 24 ALLGATHER   # 3 * 12; 3 * 8
size 4 NONE 24 44 ALLGATHERV  # 2 * 12; 20 + 24
size 3 NONE 72 24 ALLGATHERV  # 3 * 24; 4 + 8 + 12
size 0 NONE 56 64 ALLTOALL    # 2 * 28; 2 * 32
size 1 NONE 96 84 ALLTOALL    # 3 * 32; 3 * 28
size 2 NONE 20 32 ALLTOALLV   # i = 1: 4 * (2 + 3); 4 * (3 + 5)
size 3 NONE 60 36 ALLTOALLV   # j = 1: 4 * (3 + 5 + 7); 4 * (2 + 3 + 4)
size 4 NONE 7 6 ALLTOALLW     # i = 2: 3 + 4; 2 * 3
size 1 NONE 9 6 ALLTOALLW     # j = 0: 3 * 3; 1 + 2 + 3
size 2 NONE 24 16 REDUCE_SCATTER   # 4 * 6; 8 from each of 2
size 3 NONE 24 48 REDUCE_SCATTER   # 4 * 6; 16 from each of 3
size 0 NONE 16 16 REDUCE_SCATTER_BLOCK  # N * b, as within a group: 2 * 8
size 3 NONE 36 36 REDUCE_SCATTER_BLOCK  # 3 * 12
# parts: to each of the other group
expect 2 '^PARAMETER_UINT64  *0 .*RUBATO_PART_SENT.*Value: 8$'   # its MPI_Scatterv and MPI_Alltoallv: 4, 8 each
expect 1 '^PARAMETER_UINT64  *2 .*RUBATO_PART_SENT.*Value: 12$'  # its MPI_Alltoallv: 8, 12
expect 1 '^PARAMETER_UINT64  *3 .*RUBATO_PART_SENT.*Value: 28$'  # its MPI_Alltoallv: 12, 20, 28
check_replayed none
pass
