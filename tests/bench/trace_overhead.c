/* What tracing adds to MPI calls: times the calls of one rank that sends messages to itself, so that no
 * other process has a say. tests/bench/trace_overhead.sh runs it with and without the tracer.
 *
 * Runs one case and prints a line: calls per round, nanoseconds per round as the least of averages over
 * 1000 rounds, and as the average over all. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int x, y, rank;
static MPI_Comm self;

static void comm_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }

static void isend_irecv_waitall(void) {
  MPI_Request r[2];
  MPI_Irecv(&y, 1, MPI_INT, 0, 1, self, &r[0]);
  MPI_Isend(&x, 1, MPI_INT, 0, 1, self, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

/* A blocking call of each kind beside a nonblocking one: MPICH does not buffer a send to oneself. */
static void send_recv(void) {
  MPI_Request r;
  MPI_Irecv(&y, 1, MPI_INT, 0, 1, self, &r);
  MPI_Send(&x, 1, MPI_INT, 0, 1, self);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Isend(&x, 1, MPI_INT, 0, 1, self, &r);
  MPI_Recv(&y, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void allreduce(void) { MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, self); }

static void measure(int calls, void (*round)(void)) {
  enum { kSeries = 200, kRounds = 1000 };
  double best = 1e300, sum = 0;
  for (int series = 0; series < kSeries; ++series) {
    const double begin = now();
    for (int i = 0; i < kRounds; ++i) round();
    const double each = (now() - begin) / kRounds;
    sum += each;
    if (each < best) best = each;
  }
  printf("%d %.1f %.1f\n", calls, best, sum / kSeries);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  self = MPI_COMM_WORLD;
  switch (argc > 1 ? argv[1][0] : 0) {
    case 'c': measure(1, comm_rank); break;
    case 's': measure(6, send_recv); break;
    case 'i': measure(3, isend_irecv_waitall); break;
    default: measure(1, allreduce); break;
  }
  return MPI_Finalize();
}
