/* Calls of nearly all kinds: app ROUNDS [replayed|steps]
   replayed: only calls that are replayed from a file of sums as from an archive
   steps: only a message in each round, and in one of three a collective of all ranks */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char a[1 << 16], b[1 << 16];
static int rank, size, up, down, all;

static void messages(int i) {
  MPI_Request r[4];
  MPI_Status s;
  int flag;
  /* A ring of 100 bytes, in all modes of completion. */
  MPI_Irecv(b, 1000, MPI_CHAR, down, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 100, MPI_CHAR, up, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(a, 8, MPI_CHAR, up, 2, b, 8, MPI_CHAR, down, 2, MPI_COMM_WORLD, &s);
  MPI_Sendrecv(a, 8, MPI_CHAR, MPI_PROC_NULL, 2, b, 8, MPI_CHAR, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &s);
  if (rank == 0) MPI_Ssend(a, i % 50, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
  if (rank == 1) MPI_Send(a, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Probe(1, 4, MPI_COMM_WORLD, &s);
    MPI_Recv(b, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &s);
  }
  MPI_Irecv(b, 8, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 7, MPI_CHAR, up, 5, MPI_COMM_WORLD, &r[1]);
  for (flag = !all; !flag; usleep(100)) MPI_Test(&r[0], &flag, &s);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Irecv(b, 8, MPI_CHAR, down, 99, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &s);
}

static void collectives(MPI_Comm comm) {
  int n, me, counts[16], places[16];
  MPI_Request r;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < n; ++i) counts[i] = i, places[i] = 100 * i;
  MPI_Barrier(comm);
  MPI_Bcast(a, 100, MPI_CHAR, n - 1, comm);
  MPI_Bcast(a, 0, MPI_CHAR, 0, comm);
  MPI_Reduce(me == 0 ? MPI_IN_PLACE : a, b, 10, MPI_INT, MPI_SUM, 0, comm);
  MPI_Reduce(a, b, 10, MPI_INT, MPI_SUM, n - 1, comm);
  MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, comm);
  MPI_Gather(me == 0 ? MPI_IN_PLACE : a, 5, MPI_CHAR, b, 5, MPI_CHAR, 0, comm);
  MPI_Scatter(a, 6, MPI_CHAR, me == 0 ? MPI_IN_PLACE : b, 6, MPI_CHAR, 0, comm);
  MPI_Gatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, 0, comm);
  MPI_Scatterv(a, counts, places, MPI_CHAR, b, me, MPI_CHAR, n - 1, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, b, 7, MPI_CHAR, comm);
  MPI_Allgather(a, 7, MPI_CHAR, b, 7, MPI_CHAR, comm);
  MPI_Allgatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  MPI_Alltoall(a, 9, MPI_CHAR, b, 9, MPI_CHAR, comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, b, 9, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = 11 * (i != me);
  MPI_Alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = i;
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Scan(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Iallreduce(a, b, 20, MPI_INT, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Igatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, 0, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void one_sided(MPI_Win win) {
  int one = 1, old;
  MPI_Win_fence(0, win);
  MPI_Put(a, 40, MPI_CHAR, up, 0, 40, MPI_CHAR, win);
  MPI_Get(b, 50, MPI_CHAR, up, 100, 50, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, down, 0, win);
  MPI_Fetch_and_op(&one, &old, MPI_INT, down, 50, MPI_SUM, win);
  MPI_Accumulate(&one, 1, MPI_INT, down, 60, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(down, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void others(MPI_Comm line, MPI_Win win) {
  MPI_Request r;
  MPI_Neighbor_alltoall(a, 12, MPI_CHAR, b, 12, MPI_CHAR, line);
  MPI_Ineighbor_allgather(a, 13, MPI_CHAR, b, 13, MPI_CHAR, line, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  one_sided(win);
}

static void steps(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int sum;
    MPI_Sendrecv(a, 8, MPI_CHAR, up, 2, b, 8, MPI_CHAR, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* A message of rank 0 is received in the step behind that of its send. */
    if (rank == 0) MPI_Send(a, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1 && i >= 3) MPI_Recv(b, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (i % 3 == 0) MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; rank == 1 && i < 3; ++i) MPI_Recv(b, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rounds = atoi(argv[1]);
  all = argc == 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  up = (rank + 1) % size, down = (rank + size - 1) % size;
  if (!all && !strcmp(argv[2], "steps")) {
    steps(rounds);
    return MPI_Finalize();
  }
  MPI_Request persistent[2];
  MPI_Recv_init(b, 64, MPI_INT, down, 6, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(a, 33, MPI_INT, up, 6, MPI_COMM_WORLD, &persistent[1]);
  MPI_Comm half, line;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int dims[1] = {size}, periods[1] = {0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  char* memory;
  MPI_Win win;
  if (all) MPI_Win_allocate(1 << 12, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int i = 0; i < rounds; ++i) {
    messages(i);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    /* 16 kB of records. */
    for (int k = 0; all && k < 2000; ++k) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (i >= 20) continue;
    collectives(MPI_COMM_WORLD);
    collectives(half);
    collectives(MPI_COMM_SELF);
    if (all) others(line, win);
  }
  if (all) MPI_Win_free(&win);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&persistent[i]);
  MPI_Comm_free(&half);
  MPI_Comm_free(&line);
  MPI_Finalize();
  return all ? 5 : 0;
}
