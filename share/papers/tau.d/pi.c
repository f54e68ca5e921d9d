/* Pi by the Monte-Carlo method, master and workers, after Shende, Malony, Morris and Wolf,
 * "Performance Profiling Overhead Compensation for MPI Programs" (2005), section 4: the master
 * generates packets of random points, each worker asks it for one, counts how many of its points
 * lie below the curve, and after each round the workers together see whether pi is near enough.
 *
 *   pi ROUNDS POINTS     a round is a packet of so many points for each worker
 *
 * Prints for each rank the seconds from the end of MPI_Init to the beginning of MPI_Finalize.
 * EXCHANGE (compile with -DEXCHANGE=...) says how packets travel; section 3.3 of the paper names
 * what needs care.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SEND 0        /* MPI_Send, MPI_Recv from any source */
#define NONBLOCKING 1 /* MPI_Isend, MPI_Irecv, MPI_Wait */
#define WAITANY 2     /* a posted receive for each worker, MPI_Waitany */
#define TEST 3        /* the same in a loop of MPI_Test */
#define COLLECTIVE \
  4 /* MPI_Gather of requests, MPI_Scatter of packets, MPI_Bcast of the end, MPI_Barrier */
#ifndef EXCHANGE
#define EXCHANGE SEND
#endif

#define QUIET __attribute__((no_instrument_function))
/* Points that one call of the hot function looks at. */
#ifndef BATCH
#define BATCH 32
#endif

enum { kRequest = 1, kPacket = 2 };

static unsigned long long state = 88172645463325252ull;

/* A point in the unit square: both halves of a number of xorshift64*. */
QUIET static inline void random_point(double* point) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  const unsigned long long number = state * 2685821657736338717ull;
  point[0] = (double)(unsigned)(number >> 32) * 0x1p-32;
  point[1] = (double)(unsigned)number * 0x1p-32;
}

/* The small, hot function: how many of BATCH points are below y = sqrt(1 - x * x). */
__attribute__((noinline)) static int below_curve(const double* points) {
  int below = 0;
  for (int i = 0; i < BATCH; ++i)
    below += points[2 * i + 1] <= sqrt(1 - points[2 * i] * points[2 * i]);
  return below;
}

static long count_below(const double* points, int n) {
  long below = 0;
  for (int i = 0; i < n; i += BATCH) below += below_curve(points + 2 * i);
  return below;
}

/* The next of the eight images of the points in the square: (y, x) and (1 - x, y) in turn. */
static void turn(double* points, int n, int image) {
  for (int i = 0; i < n; ++i) {
    const double x = points[2 * i], y = points[2 * i + 1];
    points[2 * i] = image % 2 ? y : 1 - x;
    points[2 * i + 1] = image % 2 ? x : y;
  }
}

static void generate(double* points, int n) {
  for (int i = 0; i < n; ++i) random_point(points + 2 * i);
}

static void master(int workers, int rounds, int points) {
  double* packet = malloc(sizeof *packet * 2 * points * (EXCHANGE == COLLECTIVE ? workers + 1 : 1));
  int* requests = calloc(workers + 1, sizeof *requests);
  MPI_Request* posted = malloc(sizeof *posted * workers);
  if (EXCHANGE == WAITANY || EXCHANGE == TEST) {
    for (int i = 0; i < workers; ++i)
      MPI_Irecv(&requests[i], 1, MPI_INT, i + 1, kRequest, MPI_COMM_WORLD, &posted[i]);
  }
  for (int packets = 0; packets < rounds * (EXCHANGE == COLLECTIVE ? 1 : workers); ++packets) {
    if (EXCHANGE == COLLECTIVE) {
      int mine = 0;
      generate(packet + 2 * points, points * workers);
      MPI_Gather(&mine, 1, MPI_INT, requests, 1, MPI_INT, 0, MPI_COMM_WORLD);
      MPI_Scatter(packet, 2 * points, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      int more = packets + 1 < rounds;
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      continue;
    }
    int worker = 0, found = 0;
    MPI_Status status;
    MPI_Request request;
    generate(packet, points);
    switch (EXCHANGE) {
      case SEND:
        MPI_Recv(requests, 1, MPI_INT, MPI_ANY_SOURCE, kRequest, MPI_COMM_WORLD, &status);
        worker = status.MPI_SOURCE;
        break;
      case NONBLOCKING:
        MPI_Irecv(requests, 1, MPI_INT, MPI_ANY_SOURCE, kRequest, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        worker = status.MPI_SOURCE;
        break;
      case WAITANY:
        MPI_Waitany(workers, posted, &found, &status);
        break;
      case TEST:
        for (int done = 0; !done;) {
          found = (found + 1) % workers;
          MPI_Test(&posted[found], &done, &status);
        }
        break;
    }
    if (EXCHANGE == WAITANY || EXCHANGE == TEST) {
      worker = found + 1;
      if (packets + workers < rounds * workers)
        MPI_Irecv(&requests[found], 1, MPI_INT, worker, kRequest, MPI_COMM_WORLD, &posted[found]);
    }
    if (EXCHANGE == NONBLOCKING) {
      MPI_Isend(packet, 2 * points, MPI_DOUBLE, worker, kPacket, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(packet, 2 * points, MPI_DOUBLE, worker, kPacket, MPI_COMM_WORLD);
    }
  }
  free(posted);
  free(requests);
  free(packet);
}

static double worker(MPI_Comm workers, int rounds, int points) {
  double* packet = malloc(sizeof *packet * 2 * points);
  long counts[2] = {0, 0}, sums[2] = {0, 1};
  MPI_Request request;
  for (int round = 0, more = 1; more && round < rounds; ++round) {
    int rank = round;
    switch (EXCHANGE) {
      case COLLECTIVE:
        MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 0, MPI_DOUBLE, packet, 2 * points, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        break;
      case SEND:
        MPI_Send(&rank, 1, MPI_INT, 0, kRequest, MPI_COMM_WORLD);
        MPI_Recv(packet, 2 * points, MPI_DOUBLE, 0, kPacket, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
      default:
        MPI_Irecv(packet, 2 * points, MPI_DOUBLE, 0, kPacket, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, 0, kRequest, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int image = 0; image < 8; ++image) {
      counts[0] += count_below(packet, points);
      turn(packet, points, image);
    }
    counts[1] += 8 * points;
    /* Together: is it near enough? The bound is one that no run reaches, so that all do the same
     * work. */
    MPI_Allreduce(counts, sums, 2, MPI_LONG, MPI_SUM, workers);
    more = fabs(4.0 * (double)sums[0] / (double)sums[1] - acos(-1)) > 1e-15;
    if (EXCHANGE == COLLECTIVE) {
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  free(packet);
  return 4.0 * (double)sums[0] / (double)sums[1];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 300;
  const int points = argc > 2 ? atoi(argv[2]) / BATCH * BATCH : 16384;
  MPI_Comm workers;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &workers);
  double pi = 0;
  if (rank == 0)
    master(size - 1, rounds, points);
  else
    pi = worker(workers, rounds, points);
  MPI_Comm_free(&workers);
  const double seconds = MPI_Wtime() - begin;
  printf("rank %d seconds %.6f pi %.6f\n", rank, seconds, pi);
  MPI_Finalize();
  return 0;
}
