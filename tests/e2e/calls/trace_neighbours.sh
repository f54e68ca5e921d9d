#!/bin/sh
# Collectives among neighbours: communicator and bytes on the Enter record, requests as parameters; grids as
# OTF2's definitions, and each rank's neighbours as a property. 4 ranks in a line (not periodic), and in a
# ring by a distributed graph.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif
int main(int argc, char** argv) {
  int rank, a[40] = {0}, b[40], four = 4, no = 0, counts[1], zero[1] = {0};
  MPI_Comm line, ring, copy;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &no, 0, &line);
  MPI_Comm_set_name(line, "line");
  int from = (rank + 3) % 4, to = (rank + 1) % 4;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  MPI_Comm_dup(ring, &copy);
  MPI_Neighbor_alltoall(a, 10, MPI_INT, b, 10, MPI_INT, line);   /* 40 bytes to each neighbour there is */
  MPI_Neighbor_allgather(a, 5, MPI_INT, b, 5, MPI_INT, ring);
  counts[0] = to + 1;                                            /* rank sends to + 1, gets rank + 1 */
  int gets = rank + 1;
  MPI_Neighbor_alltoallv(a, counts, zero, MPI_INT, b, &gets, zero, MPI_INT, copy);
  MPI_Ineighbor_allgather(a, 7, MPI_INT, b, 7, MPI_INT, ring, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Neighbor_alltoall_init(a, 3, MPI_INT, b, 3, MPI_INT, line, MPI_INFO_NULL, &r);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r);
  MPI_Isend(a, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r);  /* request numbers go on behind those above */
  MPI_Recv(b, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
# moved CALL RANK SENT RECEIVED
moved() {
  grep -A1 "^ENTER  *$2 .*\"MPIX\\?_$1\"" print.txt |
    grep -q "RUBATO_COMM.*RUBATO_BYTES_SENT\"[^;]*; UINT64; $3).*RUBATO_BYTES_RECEIVED\"[^;]*; UINT64; $4)" ||
    fail "$1 on rank $2 does not say $3 bytes sent, $4 received"
}
expect 20 'RUBATO_BYTES_SENT'    # on 4 ranks 3 blocking, 1 nonblocking, 1 persistent
moved Neighbor_alltoall 0 40 40
moved Neighbor_alltoall 1 80 80
moved Neighbor_allgather 3 20 20
moved Neighbor_alltoallv 0 8 4
moved Neighbor_alltoallv 3 4 16
moved Ineighbor_allgather 2 28 28
moved Neighbor_alltoall_init 2 24 24
expect 8 'RUBATO_REQUEST"'
expect 8 '^PARAMETER_UINT64 .*RUBATO_REQUEST_START'
expect 12 '^PARAMETER_UINT64 .*RUBATO_REQUEST_END'
expect 4 '^PARAMETER_UINT64 .*RUBATO_REQUEST_END.*Value: 1$'
expect 4 '^MPI_ISEND_COMPLETE .*: 2$'
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
defined() { grep -Eq "$1" definitions.txt || fail "no definition like: $1"; }
defined '^CART_TOPOLOGY .*"line"'
defined '^CART_DIMENSION .*Size: 4.*(FALSE|false|No|no)'
[ "$(grep -c '^CART_COORDINATE' definitions.txt)" = 4 ] || fail "coordinates"
# line, ring and its copy, on 4 ranks
[ "$(grep -c 'RUBATO::NEIGHBOURS' definitions.txt)" -ge 12 ] || fail "neighbours"
defined '"MPI Rank 0".*"RUBATO::NEIGHBOURS 2".*"from - 1 to - 1"'
defined '"MPI Rank 0".*"RUBATO::NEIGHBOURS 3".*"from 3 to 1"'
check_replayed none

# Graphs of the other makes, and the rest of a grid: ranks 0 - 1 - 2 in a path that leaves 3 out; a star from
# 0 to all others and back from 3, which rank 0 alone describes; the rows of a grid of 2 x 2, and its points.
build_program graphs <<'C'
#include <mpi.h>
#define W MPI_COMM_WORLD
#define INT MPI_INT
int main(int argc, char** argv) {
  int rank, a[40] = {0}, b[40];
  MPI_Comm path, star, grid, row, point;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  MPI_Graph_create(W, 3, (int[]){1, 3, 4}, (int[]){1, 0, 2, 1}, 0, &path);
  MPI_Dist_graph_create(W, rank == 0 ? 2 : 0, (int[]){0, 3}, (int[]){3, 1}, (int[]){1, 2, 3, 0}, MPI_UNWEIGHTED,
                        MPI_INFO_NULL, 0, &star);
  MPI_Cart_create(W, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  MPI_Cart_sub(grid, (int[]){0, 0}, &point);
  MPI_Comm_set_name(row, "row");
  int at[4] = {0, 10, 20, 30};
  if (path != MPI_COMM_NULL) {  /* each sends as many integers as its rank + 1 */
    int from[2] = {rank == 0 ? 2 : rank, rank + 2};
    MPI_Neighbor_allgatherv(a, rank + 1, INT, b, from, at, INT, path);
    MPI_Ineighbor_allgatherv(a, rank + 1, INT, b, from, at, INT, path, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  /* 0 sends j integers to j, 3 sends 5 bytes */
  int in = 0, out = 0, weighted, sources[4], targets[4], unused[4], sends[4], gets[4];
  MPI_Dist_graph_neighbors_count(star, &in, &out, &weighted);
  MPI_Dist_graph_neighbors(star, in, sources, unused, out, targets, unused);
  MPI_Aint far[4] = {0, 40, 80, 120};
  MPI_Datatype send_types[4], get_types[4];
  for (int i = 0; i < 4; ++i) {
    sends[i] = rank == 0 ? targets[i] : 5;
    send_types[i] = rank == 0 ? INT : MPI_CHAR;
    gets[i] = rank == 0 ? 5 : rank;
    get_types[i] = rank == 0 ? MPI_CHAR : INT;
  }
  MPI_Neighbor_alltoallw(a, sends, far, send_types, b, gets, far, get_types, star);
  MPI_Ineighbor_alltoallw(a, sends, far, send_types, b, gets, far, get_types, star, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Neighbor_alltoall(a, 6, INT, b, 6, INT, row);
  if (point != MPI_COMM_NULL) MPI_Barrier(point);  /* MPICH gives it to rank 0 only */
  MPI_Finalize();
  return 0;
}
C
trace 4 ./graphs
check_archive
points=4
[ "$flavour" = openmpi ] || points=1
expect $((23 + points)) '^COMM_CREATE '  # world, self, star, grid, row on 4 ranks, path on 3
moved Neighbor_allgatherv 0 4 8    # to 1; from 1
moved Neighbor_allgatherv 1 16 16  # 8 to 0 and 2; 4 + 12
moved Neighbor_allgatherv 2 12 8
moved Ineighbor_allgatherv 1 16 16
moved Neighbor_alltoallw 0 24 5    # 4 * (1 + 2 + 3)
moved Neighbor_alltoallw 1 0 4
moved Neighbor_alltoallw 3 5 12
moved Ineighbor_alltoallw 0 24 5
moved Neighbor_alltoall 3 24 24    # one neighbour in its row
expect 18 'RUBATO_BYTES_SENT'      # 3 * 2 on the path, 4 * 2 on the star, 4 in rows
expect 7 '^PARAMETER_UINT64 .*RUBATO_REQUEST_END'
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
defined '^CART_TOPOLOGY .*"row"'
defined '"MPI Rank 1".*"RUBATO::NEIGHBOURS [0-9]*".*"from 0 2 to 0 2"'
defined '"MPI Rank 0".*"RUBATO::NEIGHBOURS [0-9]*".*"from 3 to [123] [123] [123]"'
defined '"MPI Rank 2".*"RUBATO::NEIGHBOURS [0-9]*".*"from 0 to *"'
check_replayed none
pass
