#!/bin/sh
# Messages found by a matched probe and received by MPI_Mrecv or MPI_Imrecv are recorded, on the communicator known only
# to the probe; MPI_Isendrecv, if available, is a send and a receive.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x[3] = {0}, y[8], flag = 0;
  MPI_Comm half;
  MPI_Message m, n;
  MPI_Request r;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);  /* {0, 2} and {1, 3} */
  if (rank < 2) {
    MPI_Send(x, 3, MPI_INT, rank + 2, 1, MPI_COMM_WORLD);
    MPI_Send(x, 2, MPI_INT, 1, 1, half);
    MPI_Send(x, 1, MPI_INT, 1, 2, half);
    MPI_Send(x, 3, MPI_INT, 1, 3, half);
  } else {
    /* both are found before either is received */
    MPI_Mprobe(0, 1, half, &m, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &n, &status);
    MPI_Mrecv(y, 8, MPI_INT, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(y, 8, MPI_INT, &n, &status);
    while (!flag) MPI_Improbe(0, 2, half, &flag, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(y, 8, MPI_INT, &m, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 3, half, &m, &status);
    MPI_Imrecv(y, 8, MPI_INT, &m, &r);
    for (flag = 0; !flag;) MPI_Test(&r, &flag, &status);
  }
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
  MPI_Mrecv(y, 8, MPI_INT, &m, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
  MPI_Imrecv(y, 8, MPI_INT, &m, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
expect 8 '^MPI_SEND '
expect 4 '^MPI_RECV '
expect 2 '^MPI_RECV .*"MPI_COMM_WORLD".*Length: 12'
expect 2 '^MPI_RECV .*Tag: 1, Length: 8'
expect 4 '^MPI_IRECV_REQUEST '
expect 4 '^MPI_IRECV '
expect 2 '^MPI_IRECV .*Tag: 2, Length: 4'
expect 2 '^MPI_IRECV .*Tag: 3, Length: 12'
check_replay

# Not with MPI_PROC_NULL, MPI_ANY_SOURCE or more ranks, at which MPICH 4.0.2 crashes or hangs by itself.
build_program exchange <<'C' 2>build.txt || pass
#include <mpi.h>
#if MPI_VERSION < 4
#error
#endif
int main(int argc, char** argv) {
  int rank, x[2] = {0}, y[2];
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Isendrecv(x, 2, MPI_INT, 1 - rank, 5, y, 2, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
[ -x exchange ] || exit 0
trace 2 ./exchange
check_archive
expect 2 '^MPI_ISEND .*Tag: 5, Length: 8,'
expect 2 '^MPI_ISEND_COMPLETE '
expect 2 '^MPI_IRECV_REQUEST '
expect 2 '^MPI_IRECV .*Tag: 5, Length: 8,'
check_replay
pass
