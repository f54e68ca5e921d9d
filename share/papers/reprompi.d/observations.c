/* Times single calls of collective operations and writes every observation: what share/papers/reprompi is made from.
 *
 *   observations METHOD LAUNCH FUNCTION SIZES COUNT [COLD]
 *
 * METHOD    how calls begin and what counts:
 *           barrier   MPI_Barrier before each; the longest of the ranks' own times (MS1 of the paper's Table 3)
 *           window:US every US microseconds on a common clock; last end less first begin (MS4). Ranks of one node read
 *                     one clock; that of other nodes is a line through ten offsets of one second, as Jones and
 *                     Koenig's. A call that a rank began late is left out.
 *           jk:US     the same with lines on one node, too: what the estimate of a clock does to the times
 *           loop      one MPI_Barrier, COUNT calls in a row, their mean over calls and ranks: a row for each size, in the
 *                     way of the Intel MPI Benchmarks (MS2, PS7)
 *           skampi    as barrier, 8 to 78 observations, until the standard error is 3 % of the mean; a row for each size,
 *                     the mean of the middle half (MS1, PS1)
 * LAUNCH    number of this start; shuffles the sizes
 * FUNCTION  allreduce, bcast, reduce, scan, allgather, or own: an allreduce with an operation compiled here
 * SIZES     bytes, with commas (sums: of doubles, rounded up to 8)
 * COUNT     observations for each size
 * COLD      bytes that each rank overwrites before each call, default 0
 *
 * Standard output is CSV as `rubato compare` reads it: a row for each observation, in seconds. Its column `began` counts
 * from the first of this launch, on rank 0's clock.
 */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 10, SYNC_ROUNDS = 100, SYNC_POINTS = 10, LEAST = 8, MOST = 78 };
enum kind { BARRIER, WINDOW, LOOP, SKAMPI };

static int rank, ranks;
static double offset, slope; /* rank 0's clock is own + offset + slope * own */
static char *send_buffer, *receive_buffer, *cold_buffer;
static size_t cold;
static MPI_Op own_op;

static double own_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double common_clock(void) {
  const double own = own_clock();
  return own + offset + slope * own;
}

static void fail(const char *what) {
  if (rank == 0) fprintf(stderr, "observations: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void add(void *in, void *in_out, int *count, MPI_Datatype *type) {
  const double *from = in;
  double *to = in_out;
  (void)type;
  for (int i = 0; i < *count; i++) to[i] += from[i];
}

/* Rank 0's clock less that of this rank, by the shortest of some round trips. */
static double offset_now(int other) {
  double best = INFINITY, found = 0, theirs = 0;
  for (int i = 0; i < SYNC_ROUNDS; i++) {
    if (rank == 0) {
      MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      theirs = own_clock();
      MPI_Send(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    } else {
      const double begin = own_clock();
      MPI_Send(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double end = own_clock();
      if (end - begin < best) best = end - begin, found = theirs - (begin + end) / 2;
    }
  }
  return found;
}

/* A line through the offsets of one second, for every rank that `estimate` says. */
static void synchronise(int estimate) {
  double t[SYNC_POINTS], o[SYNC_POINTS], mean_t = 0, mean_o = 0, tt = 0, to = 0;
  int *wanted = malloc(sizeof(int) * (size_t)ranks), any = 0;
  MPI_Allgather(&estimate, 1, MPI_INT, wanted, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 1; r < ranks; r++) any |= wanted[r];
  for (int i = 0; any && i < SYNC_POINTS; i++) {
    for (int r = 1; r < ranks; r++) {
      if (wanted[r] && (rank == 0 || rank == r)) o[i] = offset_now(r);
    }
    t[i] = own_clock();
    const struct timespec pause = {0, 1000000000L / SYNC_POINTS};
    nanosleep(&pause, NULL);
  }
  if (estimate && rank > 0) {
    for (int i = 0; i < SYNC_POINTS; i++) mean_t += t[i] / SYNC_POINTS, mean_o += o[i] / SYNC_POINTS;
    for (int i = 0; i < SYNC_POINTS; i++) {
      tt += (t[i] - mean_t) * (t[i] - mean_t);
      to += (t[i] - mean_t) * (o[i] - mean_o);
    }
    slope = to / tt;
    offset = mean_o - slope * mean_t;
  }
  free(wanted);
}

static void call(const char *function, int bytes) {
  const int doubles = (bytes + 7) / 8;
  if (!strcmp(function, "bcast")) {
    MPI_Bcast(send_buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (!strcmp(function, "reduce")) {
    MPI_Reduce(send_buffer, receive_buffer, doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (!strcmp(function, "scan")) {
    MPI_Scan(send_buffer, receive_buffer, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(function, "allgather")) {
    MPI_Allgather(send_buffer, bytes, MPI_BYTE, receive_buffer, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(send_buffer, receive_buffer, doubles, MPI_DOUBLE, strcmp(function, "own") ? MPI_SUM : own_op,
                  MPI_COMM_WORLD);
  }
}

static double barrier_observation(const char *function, int bytes, double *began) {
  if (cold > 0) memset(cold_buffer, rank + 1, cold);
  MPI_Barrier(MPI_COMM_WORLD);
  *began = own_clock();
  call(function, bytes);
  return own_clock() - *began;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double begin_of_all;
static int launch;

static void row(const char *function, int bytes, double began, double seconds) {
  if (begin_of_all == 0) begin_of_all = began;
  printf("node,%s,%d,1,%.9g,%d,%d,%.9g,%.6f\n", function, bytes, seconds, launch, ranks, seconds, began - begin_of_all);
}

/* COUNT observations of one size. */
static void measure(enum kind kind, double window, const char *function, int bytes, int count) {
  double *seconds = malloc(sizeof(double) * (size_t)count), *began = malloc(sizeof(double) * (size_t)count);
  double *last = malloc(sizeof(double) * (size_t)count);
  double unused, start = 0;
  for (int i = 0; i < WARM_UP; i++) barrier_observation(function, bytes, &unused);
  if (kind == BARRIER) {
    for (int i = 0; i < count; i++) seconds[i] = barrier_observation(function, bytes, &began[i]);
    MPI_Reduce(seconds, last, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  } else if (kind == WINDOW) {
    double *first = malloc(sizeof(double) * (size_t)count);
    int *late = malloc(sizeof(int) * (size_t)count), *any_late = malloc(sizeof(int) * (size_t)count);
    start = common_clock() + 1e-3 + window;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
      const double from = start + i * window;
      if (cold > 0) memset(cold_buffer, rank + 1, cold);
      late[i] = common_clock() > from;
      while (common_clock() < from) {
      }
      began[i] = common_clock();
      call(function, bytes);
      seconds[i] = common_clock();
    }
    MPI_Reduce(began, first, count, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(seconds, last, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(late, any_late, count, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < count; i++) last[i] = any_late[i] ? NAN : last[i] - first[i];
    free(first), free(late), free(any_late);
  } else if (kind == LOOP) {
    MPI_Barrier(MPI_COMM_WORLD);
    began[0] = own_clock();
    for (int i = 0; i < count; i++) call(function, bytes);
    const double mean = (own_clock() - began[0]) / count / ranks;
    MPI_Reduce(&mean, last, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    count = 1;
  } else {
    double sum = 0, squares = 0, one;
    int n = 0, enough = 0;
    while (!enough) {
      one = barrier_observation(function, bytes, n == 0 ? &began[0] : &unused);
      MPI_Reduce(&one, &last[n], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0) {
        sum += last[n], squares += last[n] * last[n];
        const int k = n + 1;
        const double variance = k > 1 ? (squares - sum * sum / k) / (k - 1) : 0;
        enough = k >= count || (k >= LEAST && sqrt(fmax(variance, 0) / k) <= 0.03 * sum / k);
      }
      n++;
      MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
      qsort(last, (size_t)n, sizeof(double), compare_doubles);
      double middle = 0;
      for (int i = n / 4; i < n - n / 4; i++) middle += last[i] / (n - n / 4 * 2);
      last[0] = middle;
    }
    count = 1;
  }
  for (int i = 0; rank == 0 && i < count; i++) {
    if (!isnan(last[i])) row(function, bytes, began[i], last[i]);
  }
  free(seconds), free(began), free(last);
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 6) fail("METHOD LAUNCH FUNCTION SIZES COUNT [COLD]");
  const char *method = words[1], *function = words[3];
  const char *colon = strchr(method, ':');
  const double window = colon ? 1e-6 * atof(colon + 1) : 0;
  const int estimated = !strncmp(method, "jk:", 3);
  enum kind kind = BARRIER;
  if (estimated || !strncmp(method, "window:", 7)) {
    kind = WINDOW;
    if (window <= 0) fail("a window has a length in microseconds: window:100");
  } else if (!strcmp(method, "loop")) {
    kind = LOOP;
  } else if (!strcmp(method, "skampi")) {
    kind = SKAMPI;
  } else if (strcmp(method, "barrier")) {
    fail("METHOD is barrier, window:US, jk:US, loop or skampi");
  }
  static const char *const functions[] = {"bcast", "reduce", "scan", "allgather", "allreduce", "own"};
  int known = 0;
  for (int i = 0; i < 6; i++) known |= !strcmp(function, functions[i]);
  if (!known) fail("FUNCTION is bcast, reduce, scan, allgather, allreduce or own");
  launch = atoi(words[2]);
  int observations = atoi(words[5]);
  if (kind == SKAMPI) observations = MOST;
  if (observations < 1) fail("COUNT: 1 at least");
  cold = count > 6 ? (size_t)atol(words[6]) : 0;
  int sizes[64], number = 0, largest = 8;
  for (char *word = strtok(words[4], ","); word && number < 64; word = strtok(NULL, ",")) {
    sizes[number] = atoi(word);
    if (sizes[number] < 1 && strcmp(word, "0")) fail("SIZES are bytes, with commas between them");
    if (sizes[number] > largest) largest = sizes[number];
    number++;
  }
  srand((unsigned)launch);
  for (int i = number - 1; i > 0; i--) {
    const int other = rand() % (i + 1), kept = sizes[i];
    sizes[i] = sizes[other], sizes[other] = kept;
  }
  send_buffer = calloc((size_t)largest + 8, 1);
  receive_buffer = calloc((size_t)largest * (size_t)ranks + 8, 1);
  cold_buffer = malloc(cold + 1);
  MPI_Op_create(add, 1, &own_op);
  if (kind == WINDOW) {
    MPI_Comm node;
    int on_node_of_0 = rank == 0, there;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(&on_node_of_0, &there, 1, MPI_INT, MPI_MAX, node);
    MPI_Comm_free(&node);
    synchronise(rank > 0 && (estimated || !there));
  }
  if (rank == 0) printf("level,pattern,bytes,messages,seconds_min,launch,processes,seconds_median,began\n");
  for (int i = 0; i < number; i++) measure(kind, window, function, sizes[i], observations);
  MPI_Op_free(&own_op);
  free(send_buffer), free(receive_buffer), free(cold_buffer);
  MPI_Finalize();
  return 0;
}
