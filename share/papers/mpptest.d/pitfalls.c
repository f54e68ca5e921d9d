/* Mistakes often made (mpptest's paper, section 2), each beside what avoids it, and the overlap of
   section 3.4. Two ranks talk; all others wait in MPI_Barrier.

     pitfalls WHAT [BYTES]     WHAT: clock, loops, runs, pairs, overlap, butterfly (of all ranks)

   Prints lines of numbers, seconds, for share/papers/mpptest.d/figures.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *out, *in;
static int rank, size, bytes = 8;

/* Half a round trip, the average of so many. */
static double pingpong(int trips) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - begin) / trips / 2;
}

static double least(int repetitions, int trips) {
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double seconds = pingpong(trips);
    if (seconds < least) least = seconds;
  }
  return least;
}

/* resolution, what a call costs; the first exchanges between two ranks. */
static void do_clock(void) {
  double resolution = 1;
  for (int i = 0; i < 10000; ++i) {
    const double begin = MPI_Wtime();
    double end = begin;
    while (end == begin) end = MPI_Wtime();
    if (end - begin < resolution) resolution = end - begin;
  }
  const double begin = MPI_Wtime();
  for (int i = 0; i < 100000; ++i) (void)MPI_Wtime();
  const double cost = (MPI_Wtime() - begin) / 100000;
  if (rank == 0) printf("clock %.9g %.9g\n", resolution, cost);
  double first[20];
  for (int i = 0; i < 20; ++i) first[i] = pingpong(1);
  if (rank == 0) {
    printf("first");
    for (int i = 0; i < 20; ++i) printf(" %.9g", first[i]);
    printf("\n");
  }
}

/* Loops of 1, 10, ... exchanges, 200 of each: all averages. */
static void do_loops(void) {
  enum { kLoops = 200 };
  static double seconds[kLoops];
  pingpong(1000);
  for (int trips = 1; trips <= 1000; trips *= 10) {
    for (int i = 0; i < kLoops; ++i) seconds[i] = pingpong(trips);
    if (rank != 0) continue;
    printf("loops %d", trips);
    for (int i = 0; i < kLoops; ++i) printf(" %.9g", seconds[i]);
    printf("\n");
  }
}

/* Twenty runs as one would take for typical: the average of 2000 exchanges; and the least of 20
   averages of 100. */
static void do_runs(void) {
  pingpong(1000);
  for (int i = 0; i < 20; ++i) {
    const double average = pingpong(2000), minimum = least(20, 100);
    if (rank == 0) printf("run %.9g %.9g\n", average, minimum);
  }
}

static void work(int steps) {
  static volatile double number = 1;
  double x = number; /* (or the compiler would see that all results are equal) */
  for (int i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  number = x;
}

/* Both ranks exchange a message and compute between start and end; the least of some averages. The
   computation grows: seconds of it alone, of the exchange with it, of the exchange alone. */
static void do_overlap(void) {
  enum { kPoints = 25 };
  const int trips = bytes > 65536 ? 20 : 200;
  MPI_Request requests[2];
  int steps = 0, step = 0;
  double alone = 0;
  for (int point = 0; point < kPoints; ++point) {
    double whole = 1e9, computing = 1e9;
    for (int repetition = 0; repetition < 10; ++repetition) {
      double begin = MPI_Wtime();
      for (int i = 0; i < trips; ++i) work(steps);
      const double computed = (MPI_Wtime() - begin) / trips;
      if (computed < computing) computing = computed;
      MPI_Sendrecv(out, 0, MPI_BYTE, 1 - rank, 1, in, 0, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      begin = MPI_Wtime();
      for (int i = 0; i < trips; ++i) {
        MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        work(steps);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      }
      const double seconds = (MPI_Wtime() - begin) / trips;
      if (seconds < whole) whole = seconds;
    }
    if (point == 0) {
      alone = whole;
      /* Up to three times as long as the exchange. */
      double each = 1;
      for (int i = 0; i < 20; ++i) {
        const double begin = MPI_Wtime();
        work(1 << 16);
        const double seconds = (MPI_Wtime() - begin) / (1 << 16);
        if (seconds < each) each = seconds;
      }
      step = (int)(3 * alone / each / (kPoints - 1)) + 1;
      MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
      printf("overlap %d %.9g %.9g %.9g\n", bytes, steps ? computing : 0, whole, alone);
    steps += step;
  }
}

/* Seconds of an exchange with `other`, the least average; 0 on ranks that are not `active`. */
static double exchange(int other, int active) {
  enum { kRepetitions = 20, kTrips = 50 };
  double least = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!active) continue;
    const double begin = MPI_Wtime();
    for (int i = 0; i < kTrips; ++i)
      MPI_Sendrecv(out, bytes, MPI_BYTE, other, 0, in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    const double seconds = (MPI_Wtime() - begin) / kTrips;
    if (seconds < least) least = seconds;
  }
  return active ? least : 0;
}

/* The steps of a butterfly: each rank exchanges with the one at distance 1, 2, 4, ...; beside the
   exchange of one such pair while the others wait. Of the slowest rank. */
static void do_butterfly(void) {
  for (int distance = 1; distance < size; distance *= 2) {
    const int other = rank ^ distance;
    double seconds[2];
    seconds[0] = exchange(other, other < size);
    seconds[1] = exchange(other, rank == 0 || other == 0);
    MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("butterfly %d %d %.9g %.9g\n", bytes, distance, seconds[0], seconds[1]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "";
  if (argc > 2) bytes = atoi(argv[2]);
  if (size < 2 || bytes < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  out = calloc(1, (size_t)bytes + 1);
  in = calloc(1, (size_t)bytes + 1);
  if (rank < 2) {
    if (!strcmp(what, "clock")) do_clock();
    if (!strcmp(what, "loops")) do_loops();
    if (!strcmp(what, "runs")) do_runs();
    if (!strcmp(what, "pairs")) {
      pingpong(1000);
      const double seconds = least(20, 200);
      if (rank == 0) printf("pairs %d %.9g\n", size, seconds);
    }
    if (!strcmp(what, "overlap") && size == 2) do_overlap();
  }
  if (!strcmp(what, "butterfly")) do_butterfly();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
