/* Times single calls of a collective operation, and keeps each observation.

     observe OPERATION METHOD REPETITIONS COLD_BYTES BYTES...

   OPERATION   allreduce, bcast, scan, alltoall
   METHOD      barrier: processes begin behind an MPI_Barrier; a call takes as long as its slowest
   process window: they begin together at a time agreed on (all on one node: one clock), and a call
   takes from then to the last end imb: the mean of all calls in one loop, as the Intel MPI
   Benchmarks do skampi: behind a barrier, until the standard error is below 3 % of the mean, 8
   calls at least COLD_BYTES  0, or how much memory is written between two calls, so that caches
   hold nothing of the buffers

   Prints "obs BYTES SECONDS RUNTIME" for each call, or "mean BYTES RUNTIME". Seconds since the
   first. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *out, *in, *cold;
static size_t cold_bytes;
static int rank, size;
static const char* operation;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void call(int bytes) {
  if (!strcmp(operation, "allreduce"))
    MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  else if (!strcmp(operation, "bcast"))
    MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (!strcmp(operation, "scan"))
    MPI_Scan(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  else
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void cool(void) {
  for (size_t i = 0; i < cold_bytes; i += 64) ++cold[i];
}

/* Behind a barrier: what the slowest process took. */
static double behind_barrier(int bytes) {
  cool();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  call(bytes);
  double mine = now() - begin, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* Together at `begin`; below 0 where some process came too late. */
static double in_window(int bytes, double window) {
  cool();
  double begin = now() + window;
  MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int late = now() > begin;
  while (now() < begin) continue;
  call(bytes);
  double mine[2] = {now(), late}, last[2];
  MPI_Allreduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last[1] > 0 ? -1 : last[0] - begin;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 1);
  operation = argv[1];
  const char* const method = argv[2];
  const int repetitions = atoi(argv[3]);
  cold_bytes = (size_t)atoll(argv[4]);
  cold = calloc(1, cold_bytes + 1);
  double* const seconds = calloc((size_t)repetitions + 1, sizeof *seconds);
  double* const at = calloc((size_t)repetitions + 1, sizeof *at);
  const double first = now();
  for (int i = 5; i < argc; ++i) {
    const int bytes = atoi(argv[i]);
    out = calloc((size_t)size, (size_t)bytes + 1);
    in = calloc((size_t)size, (size_t)bytes + 1);
    for (int k = 0; k < 10; ++k) behind_barrier(bytes);
    if (!strcmp(method, "imb")) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = now();
      for (int k = 0; k < repetitions; ++k) call(bytes);
      double mine = (now() - begin) / repetitions, sum = 0;
      MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("mean %d %.9g\n", bytes, sum / size);
    } else if (!strcmp(method, "skampi")) {
      double sum = 0, squares = 0;
      int count = 0;
      while (count < repetitions) {
        const double one = behind_barrier(bytes);
        sum += one, squares += one * one, ++count;
        const double mean = sum / count;
        const double variance = count > 1 ? (squares - count * mean * mean) / (count - 1) : 1;
        if (count >= 8 && sqrt(fmax(0, variance) / count) < 0.03 * mean) break;
      }
      if (rank == 0) printf("mean %d %.9g\n", bytes, sum / count);
    } else {
      const int window = !strcmp(method, "window");
      const double length = window ? 4 * behind_barrier(bytes) + 50e-6 : 0;
      for (int k = 0; k < repetitions; ++k) {
        at[k] = now() - first;
        seconds[k] = window ? in_window(bytes, length) : behind_barrier(bytes);
      }
      for (int k = 0; rank == 0 && k < repetitions; ++k) {
        if (seconds[k] >= 0) printf("obs %d %.9g %.9g\n", bytes, at[k], seconds[k]);
      }
    }
    free(out), free(in);
  }
  return MPI_Finalize();
}
