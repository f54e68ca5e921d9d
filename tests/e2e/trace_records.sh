#!/bin/sh
# The records of each kind of call, counted: as many as the program made, where Score-P writes them.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 1, y = 0, flag = 0, index, count, indices[4];
  MPI_Request r[4];
  MPI_Status s;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  for (int i = 0; i < 5; ++i) {  /* 5 sends and receives each way, in all modes */
    if (rank == 0) {
      MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(&y, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &s);
    } else {
      MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ssend(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
  }
  MPI_Sendrecv(&x, 1, MPI_INT, peer, 3, &y, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(&x, 1, MPI_INT, peer, 3, peer, 3, MPI_COMM_WORLD, &s);
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&y, 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : peer, i == 2 ? MPI_ANY_TAG : 4, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&x, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  /* every other form of completion */
  MPI_Irecv(&y, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(&x, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r[1]);
  MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, r, &index, &s);
  MPI_Irecv(&y, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&x, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &r[1]);
  r[2] = MPI_REQUEST_NULL;
  for (int done = 0; done < 2; done += count) MPI_Waitsome(3, r, &count, indices, MPI_STATUSES_IGNORE);
  MPI_Irecv(&y, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&x, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &r[1]);
  while (!flag) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Testany(1, &r[1], &index, &flag, MPI_STATUS_IGNORE);
  MPI_Irecv(&y, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&x, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &r[1]);
  for (flag = 0; !flag;) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
  /* persistent, two rounds */
  MPI_Recv_init(&y, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &r[0]);
  MPI_Ssend_init(&x, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &r[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE); /* inactive: nothing completes */
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  /* a receive that nobody serves */
  MPI_Irecv(&y, 1, MPI_INT, peer, 10, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  /* many tiny sends at once: MPICH gives them one handle */
  for (int i = 0; i < 40; ++i) {
    MPI_Request q[2];
    MPI_Isend(&x, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(&x, 0, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Recv(&y, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &s);
  }
  MPI_Request ibarrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &ibarrier);
  MPI_Wait(&ibarrier, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./app
check_archive
expect 14 '^MPI_SEND '             # 5 + 5, 2 Sendrecv, 2 Sendrecv_replace
expect 94 '^MPI_RECV '             # the same and 80
expect 98 '^MPI_ISEND '            # per rank 3 + 4, 2 starts, 40
expect 98 '^MPI_ISEND_COMPLETE '
expect 20 '^MPI_IRECV_REQUEST '    # per rank 3 + 4, 2 starts, 1 cancelled
expect 18 '^MPI_IRECV '
expect 2 '^MPI_REQUEST_CANCELLED '
expect 4 'RUBATO_SEND_MODE.*UINT8; 2'
expect 7 'RUBATO_POSTED_SOURCE[^)]*; -1)'  # an MPI_Irecv per rank, 5 MPI_Recv
expect 7 'RUBATO_POSTED_TAG[^)]*; -1)'     # likewise
expect 2 '^ENTER .*"MPI_Ibarrier"'
expect 2 '^PROGRAM_BEGIN'
expect 2 '^PROGRAM_END'
pass
