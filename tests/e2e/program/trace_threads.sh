#!/bin/sh
# MPI_THREAD_MULTIPLE: a location per thread, requests may be completed by another thread. The level is the
# same as without the tracer.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread <<'C'
#include <mpi.h>
#include <pthread.h>
static int rank, rounds = 200;
static void* work(void* argument) {
  int tag = *(int*)argument, x = tag, y = 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request r[2];
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&x, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  return 0;
}
static MPI_Request handed_over;
static void* finish(void* unused) {
  MPI_Wait(&handed_over, MPI_STATUS_IGNORE);
  return unused;
}
int main(int argc, char** argv) {
  int provided, level, tags[3] = {1, 2, 3}, x = 0;
  pthread_t threads[3];
  if (argc > 1) {
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&provided);
    rounds = 4000; /* so that threads meet */
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  }
  MPI_Query_thread(&level);
  if (level != provided) { MPI_Finalize(); return 5; }
  if (provided < MPI_THREAD_MULTIPLE) { MPI_Finalize(); return 77; }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, &tags[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &handed_over);
  MPI_Send(&rank, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD);
  pthread_create(&threads[0], 0, finish, 0);
  pthread_join(threads[0], 0);
  return MPI_Finalize();
}
C
run 2 ./app || { [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"; fail "without the tracer"; }
trace 2 ./app || fail "exit code $?"
check_archive
expect 1200 '^MPI_ISEND '
expect 1202 '^MPI_IRECV '
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
[ "$(grep -c '^LOCATION  ' definitions.txt)" = 10 ] || fail "$(grep -c '^LOCATION  ' definitions.txt) locations"

# The environment sets the thread level of a program that only queries it.
export OMPI_MPI_THREAD_LEVEL=3 MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE
trace 2 ./app ask || fail "exit code $?"
check_archive
expect 24000 '^MPI_ISEND '
expect 24002 '^MPI_IRECV '
pass
