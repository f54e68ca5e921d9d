/* What the laboratory's own programs compute: nothing, for as long as they are told. They sleep to
   a point in time, so that four ranks on two processors compute at once as on four, and what is
   compared is the network. */
#ifndef RUBATO_LAB_WORK_H
#define RUBATO_LAB_WORK_H

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static void work(double microseconds) {
  struct timespec until;
  prctl(PR_SET_TIMERSLACK, 1000); /* wakes up a microsecond late at most, not 50 */
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += (long)(microseconds * 1e3);
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) continue;
}

/* Between 0.7 and 1.3, the same in every run: ranks do not have the same to do. */
static double uneven(int rank, int step) {
  unsigned x = (unsigned)rank * 2654435761u + (unsigned)step * 40503u + 12345u;
  x ^= x >> 13;
  x *= 2246822519u;
  x ^= x >> 16;
  return 0.7 + 0.6 * (x % 1000) / 1000.0;
}

static int number(int argc, char** argv, int place, int otherwise) {
  return argc > place ? atoi(argv[place]) : otherwise;
}

#endif
