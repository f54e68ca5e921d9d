#!/bin/sh
# The records of each kind of call, counted: as many as the program made, where Score-P writes them.
. "$(dirname "$0")/../lib.sh"
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
  /* a receive without a sender */
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
expect 20 'RUBATO_POSTED_BYTES[^)]*; 4)'    # the number of MPI_IRECV_REQUEST; the message of MPI_RECV filled its buffer
expect 20 'RUBATO_POSTED_BYTES'
expect 2 '^ENTER .*"MPI_Ibarrier"'
expect 2 '^PROGRAM_BEGIN'
expect 2 '^PROGRAM_END'
check_replay

# Buffered and ready sends in their three forms, a send whose request is freed under way, and messages that do
# not lie as they are sent: gaps within (a vector), and places anywhere in memory (MPI_BOTTOM).
build_program modes <<'C'
#include <mpi.h>
#include <stdlib.h>
#define W MPI_COMM_WORLD
static void demand(int true_) {
  if (!true_) MPI_Abort(W, 1);
}
int main(int argc, char** argv) {
  int rank, x[60], y[7][16], whole[3] = {0}, i;
  double real[2] = {0, 0};
  MPI_Request r[7];
  MPI_Datatype vector, anywhere, gib, endless;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  for (i = 0; i < 60; ++i) x[i] = rank == 0 ? i : -1;
  MPI_Type_vector(4, 2, 5, MPI_INT, &vector);  /* 8 of 17 integers */
  MPI_Type_commit(&vector);
  MPI_Aint at[2];
  MPI_Get_address(whole, &at[0]);
  MPI_Get_address(real, &at[1]);
  MPI_Type_create_struct(2, (int[]){3, 2}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &anywhere);
  MPI_Type_commit(&anywhere);
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib);
  MPI_Type_contiguous(1 << 30, gib, &endless);
  MPI_Type_commit(&endless);
  MPI_Type_free(&gib);
  if (rank == 1) {
    for (i = 0; i < 7; ++i) MPI_Irecv(y[i], 16, MPI_INT, 0, i + 1, W, &r[i]);
    MPI_Barrier(W);  /* ready sends find their receives */
    MPI_Waitall(7, r, MPI_STATUSES_IGNORE);
    for (i = 0; i < 7; ++i) demand(y[i][i + 2] == i + 2);
    MPI_Recv(x, 1, vector, 0, 8, W, MPI_STATUS_IGNORE);
    demand(x[1] == 1 && x[2] == -1 && x[5] == 5);
    MPI_Recv(MPI_BOTTOM, 1, anywhere, 0, 9, W, MPI_STATUS_IGNORE);
    demand(whole[2] == 3 && real[1] == 2.5);
    MPI_Irecv(MPI_BOTTOM, 1, anywhere, 0, 10, W, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    demand(whole[2] == 4);
    MPI_Recv(x, 60, MPI_INT, MPI_ANY_SOURCE, 11, W, MPI_STATUS_IGNORE);
    MPI_Recv(x, 1, endless, 0, 12, W, MPI_STATUS_IGNORE);
  } else {
    char* space = malloc(1000 + 4 * MPI_BSEND_OVERHEAD);
    int size = 1000 + 4 * MPI_BSEND_OVERHEAD;
    MPI_Buffer_attach(space, size);
    MPI_Barrier(W);
    MPI_Bsend(x, 3, MPI_INT, 1, 1, W);
    MPI_Rsend(x, 4, MPI_INT, 1, 2, W);
    MPI_Ibsend(x, 5, MPI_INT, 1, 3, W, &r[0]);
    MPI_Irsend(x, 6, MPI_INT, 1, 4, W, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Bsend_init(x, 7, MPI_INT, 1, 5, W, &r[0]);
    MPI_Rsend_init(x, 8, MPI_INT, 1, 6, W, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Isend(x, 9, MPI_INT, 1, 7, W, &r[0]);
    MPI_Request_free(&r[0]);
    MPI_Send(x, 1, vector, 1, 8, W);
    whole[2] = 3;
    real[1] = 2.5;
    MPI_Send(MPI_BOTTOM, 1, anywhere, 1, 9, W);
    whole[2] = 4;
    MPI_Isend(MPI_BOTTOM, 1, anywhere, 1, 10, W, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Send(x, 1, MPI_INT, 1, 11, W);
    MPI_Send(x, 1, MPI_INT, 1, 12, W);
    MPI_Buffer_detach(&space, &size);
  }
  MPI_Type_free(&vector);
  MPI_Type_free(&anywhere);
  MPI_Type_free(&endless);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./modes
check_archive
expect 6 '^MPI_SEND '                        # Bsend, Rsend, the vector, MPI_BOTTOM, the last two
expect 6 '^MPI_ISEND '                       # Ibsend, Irsend, 2 starts, the freed one, MPI_BOTTOM
expect 6 '^MPI_ISEND_COMPLETE '
expect 8 '^MPI_IRECV_REQUEST '
expect 8 '^MPI_IRECV '
expect 4 '^MPI_RECV '
# message KIND TAG BYTES: sent by rank 0, received by rank 1
message() {
  expect 1 "^MPI_$1  *0 .*Tag: $3, Length: $4\\(,\\|\$\\)"
  expect 1 "^MPI_$2  *1 .*Tag: $3, Length: $4\\(,\\|\$\\)"
}
message SEND IRECV 1 12
message SEND IRECV 2 16
message ISEND IRECV 3 20
message ISEND IRECV 4 24
message ISEND IRECV 5 28
message ISEND IRECV 6 32
message ISEND IRECV 7 36
message SEND RECV 8 32                       # 4 * 2 integers
message SEND RECV 9 28                       # 3 integers and 2 doubles
message ISEND IRECV 10 28
message SEND RECV 11 4
message SEND RECV 12 4
expect 7 'RUBATO_POSTED_BYTES[^)]*; 64)'     # 16 integers, whatever came
expect 1 'RUBATO_POSTED_BYTES[^)]*; 28)'
expect 1 'RUBATO_POSTED_SOURCE[^)]*; -1).*RUBATO_POSTED_BYTES[^)]*; 240)'  # on the last MPI_RECV but one
expect 1 'RUBATO_POSTED_BYTES[^)]*; 4503599627370495)'  # on the last: 2^52 - 1 stand for any more, as 2^60 here
expect 10 'RUBATO_POSTED_BYTES'
expect 1 'RUBATO_SEND_MODE.*UINT8; 1'        # Bsend_init
expect 1 'RUBATO_SEND_MODE.*UINT8; 3'        # Rsend_init
# The freed one ends where it is freed; the persistent ones are under way no more when they are.
[ "$(awk '$2 == 0' print.txt | grep -A1 '^ENTER .*"MPI_Request_free"' | grep -c '^MPI_ISEND_COMPLETE ')" = 1 ] ||
  fail "completions in MPI_Request_free"
check_replayed none

# A receive whose request is freed under way: its status is unknown, so its message has no partner.
build_program freed <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./freed
check_readable
"$python" "$tests/e2e/check_archive.py" --unmatched 1 run.otf2dir/traces.otf2 >check.txt 2>&1 ||
  fail "check_archive.py: $(tail -3 check.txt)"
expect 1 '^MPI_IRECV_REQUEST '
expect 0 '^MPI_IRECV '
expect 0 '^MPI_REQUEST_CANCELLED '
check_replay
pass
