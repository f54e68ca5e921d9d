/* Four ways to make the clocks of ranks one, and how far they are apart some time later: the clock methods beside each
 * other of share/papers/reprompi.
 *
 *   clocks DRIFT TRIALS SECONDS STEPS
 *
 * DRIFT    of the laboratory's clocks, in parts per million: where all ranks are on one node, which has one clock, rank r
 *          reads one of its own that is 1000 r seconds ahead and runs r * DRIFT faster. So the truth is known. On several
 *          nodes each rank reads its node's clock, and errors are estimated by a hundred round trips with rank 0
 * TRIALS   how often each method is used, in turn
 * SECONDS  of drift after the last of them, looked at in so many STEPS
 *
 * jk       Jones and Koenig: rank 0 with each rank in turn, point by point; O(p) [30 points in 0.3 s, as all of these]
 * hca      a binomial tree from the leaves up learns lines, which go down again; then rank 0 with each rank: the offset
 * hca2     the same without the last step: O(log p)
 * hca3     a binomial tree from its root down: each rank learns its line over the global clock at once
 *
 * Standard output is CSV, a row for each trial and step: the largest error of all ranks' clocks then, in microseconds;
 * method "none" is with the offset at the beginning alone.
 */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POINTS = 30, EXCHANGES = 20, LOOKS = 100, METHODS = 5 };
static const double point_every = 0.01;

struct line { /* over the clock of rank 0: own + offset + drift * (own - middle) */
  double middle, offset, drift;
};
struct point {
  double own, offset;
};

static int rank, ranks, laboratory;
static double drift, begin;

static double system_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double bent(double t) { return laboratory ? t + 1000.0 * rank + drift * rank * (t - begin) : t; }

static double own_clock(void) { return bent(system_clock()); }

static double reference(const struct line *line, double own) {
  return own + line->offset + line->drift * (own - line->middle);
}

static void wait_for(double seconds) {
  const struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
  nanosleep(&pause, NULL);
}

/* The other side's time less the own one, by the shortest of some round trips. */
static struct point ask(int peer, int exchanges) {
  struct point point = {0, 0};
  double shortest = INFINITY;
  for (int i = 0; i < exchanges; i++) {
    double theirs = 0;
    const double before = own_clock();
    MPI_Send(&theirs, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double after = own_clock();
    if (after - before >= shortest) continue;
    shortest = after - before;
    point.own = before + shortest / 2;
    point.offset = theirs - point.own;
  }
  return point;
}

static void answer(int peer, const struct line *line, int exchanges) {
  for (int i = 0; i < exchanges; i++) {
    double theirs;
    MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    theirs = reference(line, own_clock());
    MPI_Send(&theirs, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  }
}

/* By least squares. */
static struct line fit(const struct point *points, int count) {
  struct line line = {0, 0, 0};
  double spread = 0, product = 0;
  for (int i = 0; i < count; i++) line.middle += points[i].own / count, line.offset += points[i].offset / count;
  for (int i = 0; i < count; i++) {
    const double distance = points[i].own - line.middle;
    spread += distance * distance;
    product += distance * (points[i].offset - line.offset);
  }
  if (spread > 0) line.drift = product / spread;
  return line;
}

static struct line learn(int peer) {
  struct point points[POINTS];
  for (int i = 0; i < POINTS; i++) {
    points[i] = ask(peer, EXCHANGES);
    wait_for(point_every);
  }
  return fit(points, POINTS);
}

static void teach(int peer, const struct line *line) {
  for (int i = 0; i < POINTS; i++) answer(peer, line, EXCHANGES);
}

static const struct line own_time = {0, 0, 0};

static struct line none(void) {
  struct line line = {0, 0, 0};
  for (int other = 1; other < ranks; other++) {
    if (rank == 0) answer(other, &own_time, EXCHANGES);
    if (rank == other) {
      const struct point point = ask(0, EXCHANGES);
      line = (struct line){point.own, point.offset, 0};
    }
  }
  return line;
}

static struct line jk(void) {
  struct point points[POINTS];
  for (int i = 0; i < POINTS; i++) {
    if (rank > 0) points[i] = ask(0, EXCHANGES);
    for (int other = 1; rank == 0 && other < ranks; other++) answer(other, &own_time, EXCHANGES);
    wait_for(point_every);
  }
  return rank > 0 ? fit(points, POINTS) : own_time;
}

/* A line over the parent's clock, and the parent's line, as one. */
static struct line over(const struct line *child, const struct line *parent) {
  return (struct line){child->middle, reference(parent, reference(child, child->middle)) - child->middle,
                       (1 + child->drift) * (1 + parent->drift) - 1};
}

static struct line hca2(void) {
  struct line line = {0, 0, 0};
  int bit = 1;
  for (; bit < ranks && (rank & bit) == 0; bit <<= 1) {
    if (rank + bit < ranks) teach(rank + bit, &own_time);
  }
  if (rank > 0) {
    const struct line child = learn(rank - bit);
    struct line parent;
    MPI_Recv(&parent, sizeof parent, MPI_BYTE, rank - bit, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    line = over(&child, &parent);
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (rank + bit < ranks) MPI_Send(&line, sizeof line, MPI_BYTE, rank + bit, 1, MPI_COMM_WORLD);
  }
  return line;
}

static struct line hca(void) {
  struct line line = hca2();
  for (int other = 1; other < ranks; other++) {
    if (rank == 0) answer(other, &own_time, EXCHANGES);
    if (rank == other) {
      const struct point point = ask(0, EXCHANGES);
      line.middle = point.own, line.offset = point.offset;
    }
  }
  return line;
}

static struct line hca3(void) {
  struct line line = {0, 0, 0};
  int bit = 1;
  while (bit < ranks && (rank & bit) == 0) bit <<= 1;
  if (rank > 0) line = learn(rank - bit);
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (rank + bit < ranks) teach(rank + bit, &line);
  }
  return line;
}

/* Of all ranks, in seconds; rank 0 has it. */
static double largest_error(const struct line *line) {
  double error = 0, largest = 0;
  if (laboratory) {
    const double t = system_clock();
    error = fabs(reference(line, bent(t)) - t);
  } else {
    for (int other = 1; other < ranks; other++) {
      if (rank == 0) answer(other, &own_time, LOOKS);
      if (rank != other) continue;
      const struct point point = ask(0, LOOKS);
      error = fabs(reference(line, point.own) - (point.own + point.offset));
    }
  }
  MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return largest;
}

int main(int count, char **words) {
  static const char *const names[METHODS] = {"none", "jk", "hca", "hca2", "hca3"};
  static struct line (*const methods[METHODS])(void) = {none, jk, hca, hca2, hca3};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int trials = count > 4 ? atoi(words[2]) : 0, steps = count > 4 ? atoi(words[4]) : 0;
  if (trials < 1 || steps < 1 || ranks < 2) {
    if (rank == 0) fprintf(stderr, "clocks: DRIFT TRIALS SECONDS STEPS, on 2 ranks or more\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  drift = 1e-6 * atof(words[1]);
  const double seconds = atof(words[3]);
  MPI_Comm node;
  int on_node = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  on_node = on_node == ranks;
  MPI_Allreduce(&on_node, &laboratory, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  begin = system_clock();
  MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  struct line *lines = malloc(sizeof *lines * (size_t)(trials * METHODS));
  double *ended = malloc(sizeof *ended * (size_t)(trials * METHODS)), *took = malloc(sizeof *took * (size_t)(trials * METHODS));
  if (rank == 0) printf("method,trial,synchronised_in,seconds,largest_error_us\n");
  for (int i = 0; i < trials * METHODS; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = system_clock();
    lines[i] = methods[i % METHODS]();
    MPI_Barrier(MPI_COMM_WORLD);
    ended[i] = system_clock();
    took[i] = ended[i] - start;
    const double error = largest_error(&lines[i]);
    if (rank == 0) printf("%s,%d,%.3f,0,%.3f\n", names[i % METHODS], i / METHODS + 1, took[i], 1e6 * error);
  }
  for (int step = 1; step <= steps; step++) {
    wait_for(seconds / steps);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < trials * METHODS; i++) {
      const double at = system_clock() - ended[i];
      const double error = largest_error(&lines[i]);
      if (rank == 0)
        printf("%s,%d,%.3f,%.3f,%.3f\n", names[i % METHODS], i / METHODS + 1, took[i], at, 1e6 * error);
    }
  }
  free(lines), free(ended), free(took);
  MPI_Finalize();
  return 0;
}
