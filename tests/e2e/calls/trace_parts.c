/* Vector collectives of 4 ranks, also with nothing for some. What each rank sends to each peer it writes to
   sent.RANK itself: the region, then bytes per peer. With an argument all die before MPI_Finalize. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define PREFIX "MPIX_"
#else
#define PREFIX "MPI_"
#endif
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#define W MPI_COMM_WORLD

enum { N = 4 };
static FILE* out;

/* So many elements go from rank a to rank b: from 0: 0 2 0 2, from 1: 1 0 3 2, from 2: 2 2 2 2,
   from 3: 3 0 1 2. */
static int amount(int a, int b) { return (a + 2 * b + a * b) % 4; }
/* The same both ways, for calls in place. */
static int common(int a, int b) { return (a + b) % 3; }

static void say(const char* region, int n, const int* counts, const int* sizes) {
  fprintf(out, "%s", region);
  for (int i = 0; i < n; ++i) fprintf(out, " %d", counts[i] * sizes[i]);
  fprintf(out, "\n");
}

int main(int argc, char** argv) {
  static double a[100], b[100];
  const int displs[N] = {0, 4, 8, 12};
  int bytes[N] = {0, 64, 128, 192}, ints[N] = {4, 4, 4, 4}, doubles[N] = {8, 8, 8, 8};
  int shorts[N] = {2, 2, 2, 2}, mixed[N];
  int rank, to[N], from[N], both[N], shared[N], equal[N] = {3, 3, 3, 3};
  MPI_Datatype types[N];
  MPI_Comm half, inter;
  MPI_Request r;
  char name[20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  sprintf(name, "sent.%d", rank);
  out = fopen(name, "w");
  for (int i = 0; i < N; ++i) {
    to[i] = amount(rank, i);
    from[i] = amount(i, rank);
    both[i] = common(rank, i);
    shared[i] = i == rank ? 0 : both[i]; /* what stays where it is goes nowhere */
    types[i] = (rank + i) % 2 ? MPI_DOUBLE : MPI_INT;
    mixed[i] = (rank + i) % 2 ? 8 : 4;
  }
  MPI_Alltoallv(a, equal, displs, MPI_SHORT, b, equal, displs, MPI_SHORT, W);
  say("MPI_Alltoallv", N, equal, shorts);
  MPI_Alltoallv(a, to, displs, MPI_INT, b, from, displs, MPI_INT, W);
  say("MPI_Alltoallv", N, to, ints);
  MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, b, both, displs, MPI_DOUBLE, W);
  say("MPI_Alltoallv", N, shared, doubles);
  MPI_Alltoallw(a, to, bytes, types, b, from, bytes, types, W);
  say("MPI_Alltoallw", N, to, mixed);
  MPI_Alltoallw(MPI_IN_PLACE, 0, 0, 0, b, both, bytes, types, W);
  say("MPI_Alltoallw", N, shared, mixed);

  int share = amount(1, rank), rooted[N];
  for (int i = 0; i < N; ++i) rooted[i] = amount(1, i);
  MPI_Scatterv(a, rooted, displs, MPI_INT, b, share, MPI_INT, 1, W);
  if (rank == 1) say("MPI_Scatterv", N, rooted, ints);
  if (rank == 1) {
    MPI_Scatterv(a, rooted, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 1, W);
    rooted[1] = 0;
    say("MPI_Scatterv", N, rooted, ints);
  } else {
    MPI_Scatterv(0, 0, 0, MPI_INT, b, share, MPI_INT, 1, W);
  }

  MPI_Ialltoallv(a, to, displs, MPI_DOUBLE, b, from, displs, MPI_DOUBLE, W, &r);
  say("MPI_Ialltoallv", N, to, doubles);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Ialltoallw(a, to, bytes, types, b, from, bytes, types, W, &r);
  say("MPI_Ialltoallw", N, to, mixed);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Iscatterv(a, equal, displs, MPI_SHORT, b, 3, MPI_SHORT, 0, W, &r);
  if (rank == 0) say("MPI_Iscatterv", N, equal, shorts);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Alltoallv_init(a, to, displs, MPI_INT, b, from, displs, MPI_INT, W, MPI_INFO_NULL, &r);
  say(PREFIX "Alltoallv_init", N, to, ints);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r);

  /* Rank 0 on one side, the others on the other. */
  const int alone = rank == 0, peers = alone ? 3 : 1;
  int across[3], back[3];
  for (int i = 0; i < peers; ++i) {
    across[i] = amount(rank, alone ? i + 1 : 0);
    back[i] = amount(alone ? i + 1 : 0, rank);
  }
  MPI_Comm_split(W, alone, rank, &half);
  MPI_Intercomm_create(half, 0, W, alone ? 1 : 0, 7, &inter);
  MPI_Alltoallv(a, across, displs, MPI_INT, b, back, displs, MPI_INT, inter);
  say("MPI_Alltoallv", peers, across, ints);
  if (alone) {
    MPI_Scatterv(a, across, displs, MPI_INT, 0, 0, MPI_INT, MPI_ROOT, inter);
    say("MPI_Scatterv", 3, across, ints);
  } else {
    MPI_Scatterv(0, 0, 0, MPI_INT, b, amount(0, rank), MPI_INT, 0, inter);
  }
#if MPI_VERSION >= 4
  MPI_Count large_to[N], large_from[N];
  MPI_Aint large_displs[N];
  for (int i = 0; i < N; ++i) {
    large_to[i] = to[i];
    large_from[i] = from[i];
    large_displs[i] = displs[i];
  }
  MPI_Alltoallv_c(a, large_to, large_displs, MPI_INT, b, large_from, large_displs, MPI_INT, W);
  say("MPI_Alltoallv_c", N, to, ints);
#endif
  fclose(out);
  MPI_Barrier(W);
  if (argc > 1) kill(getpid(), SIGKILL);
  MPI_Finalize();
  return 0;
}
