#!/bin/sh
# Collectives among neighbours: communicator and bytes on the Enter record, requests as parameters; grids as
# OTF2's definitions, and each rank's neighbours as a property. 4 ranks in a line (not periodic), and in a
# ring by a distributed graph.
. "$(dirname "$0")/lib.sh"
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
pass
