/* What tracing adds to MPI calls: times the calls of one rank that sends messages to itself, so that no
 * other process has a say. tests/bench/trace_overhead.sh runs it with and without the tracer.
 *
 * Runs one case and prints a line: calls per round, nanoseconds per round as the least of averages over
 * 1000 rounds, and as the average over all. Case "threads" is isend_irecv_waitall by two threads at once, with
 * MPI_THREAD_MULTIPLE; what one of them takes. A second argument is the number of such series instead of 200. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static __thread int x, y, tag = 1;
static int rank, series_wanted = 200;
static MPI_Comm self;

static void comm_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }

static void isend_irecv_waitall(void) {
  MPI_Request r[2];
  MPI_Irecv(&y, 1, MPI_INT, 0, tag, self, &r[0]);
  MPI_Isend(&x, 1, MPI_INT, 0, tag, self, &r[1]);
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
  enum { kRounds = 1000 };
  double best = 1e300, sum = 0;
  for (int series = 0; series < series_wanted; ++series) {
    const double begin = now();
    for (int i = 0; i < kRounds; ++i) round();
    const double each = (now() - begin) / kRounds;
    sum += each;
    if (each < best) best = each;
  }
  printf("%d %.1f %.1f\n", calls, best, sum / series_wanted);
}

static void* other_thread(void* done) {
  tag = 2;
  while (!__atomic_load_n((int*)done, __ATOMIC_RELAXED)) isend_irecv_waitall();
  return NULL;
}

static void measure_threads(void) {
  int done = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, &done);
  measure(3, isend_irecv_waitall);
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && argv[1][0] == 't';
  int provided;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (threads && provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  if (argc > 2) series_wanted = atoi(argv[2]);
  self = MPI_COMM_WORLD;
  switch (argc > 1 ? argv[1][0] : 0) {
    case 'c': measure(1, comm_rank); break;
    case 's': measure(6, send_recv); break;
    case 'i': measure(3, isend_irecv_waitall); break;
    case 't': measure_threads(); break;
    default: measure(1, allreduce); break;
  }
  return MPI_Finalize();
}
