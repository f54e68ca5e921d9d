#!/bin/sh
# Messages to and from MPI_PROC_NULL leave no records but their regions.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int x = 0;
  MPI_Request r[2];
  MPI_Init(&argc, &argv);
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, &x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Start(&r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&r[0]);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./app
check_archive
expect 0 '^MPI_SEND\|^MPI_RECV\|^MPI_ISEND\|^MPI_IRECV'
expect 2 '^ENTER .*"MPI_Sendrecv"'
expect 2 '^LEAVE .*"MPI_Waitall"'
pass
