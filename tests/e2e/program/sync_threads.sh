#!/bin/sh
# --sync-every in a program of MPI_THREAD_MULTIPLE: one thread at a time makes the collective calls, the others
# send messages meanwhile. Results stay, nothing hangs, and messages of the tracer do not mix with theirs.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int rank;
static long sums[3];
static volatile int done;
static void* talk(void* argument) {
  int tag = *(int*)argument;
  for (int i = 0; i < 500; ++i) {
    int x = i * tag, y = 0;
    MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, tag, &y, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sums[tag] += y;
  }
  return 0;
}
static void* reduce(void* argument) {
  for (int i = 0; i < 100; ++i) {
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sums[0] += all;
    MPI_Bcast(&one, 1, MPI_INT, 1, MPI_COMM_WORLD);
    usleep(5000);
  }
  return argument;
}
int main(int argc, char** argv) {
  int provided, tags[3] = {0, 1, 2};
  pthread_t threads[3];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) { MPI_Finalize(); return 77; }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, i ? talk : reduce, &tags[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  reduce(0); /* the same from another thread */
  printf("%d %ld %ld %ld\n", rank, sums[0], sums[1], sums[2]);
  return MPI_Finalize();
}
C
# 200 * 2; 500 * 499 / 2 once and twice.
printf '0 400 124750 249500\n1 400 124750 249500\n' >expected.txt
trace 2 --clock monotonic --clock-domain rank --sync-every 0.3 ./app >out.txt || {
  [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"
  fail "exit code"
}
sort out.txt | cmp - expected.txt || fail "results: $(cat out.txt)"
check_readable
expect 2000 '^MPI_SEND '
expect 400 '^MPI_COLLECTIVE_END .*ALLREDUCE'
[ "$(long_flushes 20)" -ge 4 ] || fail "no synchronisation"
pass
