#!/bin/sh
# Communicators get one definition for all ranks, with the right members and parents.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0, y, dims[2] = {2, 2}, periods[2] = {1, 1};
  MPI_Comm half, copy, alone, none, grid, shared;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);      /* {2,0} and {3,1} */
  MPI_Comm_set_name(half, "half");
  MPI_Comm_dup(half, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);              /* each by itself */
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &none);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  /* rank 0 of `half` is world rank 2 or 3 */
  int me;
  MPI_Comm_rank(half, &me);
  if (me == 0) MPI_Send(&x, 1, MPI_INT, 1, 1, half);
  else MPI_Recv(&x, 1, MPI_INT, 0, 1, half, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, alone, MPI_STATUS_IGNORE);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Comm_dup(MPI_COMM_WORLD, &half);  /* may get the handle of a freed one */
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
defined() {
  grep -Eq "$1" definitions.txt || fail "no definition like: $1"
}
defined '^COMM +0  Name: "MPI_COMM_WORLD" .*Parent: UNDEFINED'
defined '^COMM +1  Name: "MPI_COMM_SELF" .*Parent: UNDEFINED'
defined '^GROUP .*COMM_LOCATIONS.* 4 Members'
defined '^GROUP .*COMM_GROUP.* 2 Members: 2 .*, 0 '
defined '^GROUP .*COMM_GROUP.* 2 Members: 3 .*, 1 '
defined '^COMM .*Name: "half" .*Parent: "MPI_COMM_WORLD"'
defined '^COMM .*Parent: "half"'
# world, self, 2 halves, 2 copies, alone, none (on rank 0: self-like too), grid, shared, dup
[ "$(grep -c '^COMM ' definitions.txt)" = 11 ] || fail "$(grep -c '^COMM ' definitions.txt) communicators"
# world and self; half, copy, alone, grid, shared, dup on each rank; none on one
expect 33 '^COMM_CREATE '
expect 20 '^COMM_DESTROY '
pass
