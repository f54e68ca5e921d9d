#!/bin/sh
# Threads created and joined with pthread_create and pthread_join, or by std::thread: their begins, ends and joins are
# recorded, nothing changes for the program, and in the replay a join waits for the end of the thread.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_key_t key;
static int destroyed;
static sem_t done;
static pthread_t forever;
#define CHECK(condition) if (!(condition)) MPI_Abort(MPI_COMM_WORLD, __LINE__ % 200 + 10)

static void note_end(void* value) { ++destroyed; }
static void to_itself(void) {
  int x = 1, y = 0;
  MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  pthread_setspecific(key, &key);
}
static void* returns(void* argument) { to_itself(); return argument; }
static void* exits(void* argument) { to_itself(); pthread_exit(argument); }
static void* sleeps(void* argument) { to_itself(); usleep(100000); return argument; }
static void* goes_on(void* argument) { to_itself(); sem_post(&done); for (;;) pause(); return argument; }
static void* joins(void* argument) { to_itself(); sem_post(&done); pthread_join(forever, 0); return argument; }
static void* posts(void* argument) { to_itself(); sem_post(&done); return argument; }
static void* computes(void* argument) { pthread_setspecific(key, &key); return argument; }

int main(int argc, char** argv) {
  int provided, rank, number = 7;
  void* value = 0;
  pthread_t thread;
  pthread_attr_t detached;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) { MPI_Finalize(); return 77; }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sem_init(&done, 0, 0);
  pthread_key_create(&key, note_end);
  if (rank == 0) {
    errno = 77;
    pthread_create(&thread, 0, returns, &number);
    CHECK(pthread_join(thread, &value) == 0 && value == &number && errno == 77);
    pthread_create(&thread, 0, exits, &rank);
    CHECK(pthread_join(thread, &value) == 0 && value == &rank);
    pthread_create(&thread, 0, goes_on, 0);
    sem_wait(&done);
    pthread_cancel(thread);
    CHECK(pthread_join(thread, &value) == 0 && value == PTHREAD_CANCELED);
    /* One that waits for another is cancelled, and that one is waited for again. */
    pthread_create(&forever, 0, goes_on, 0);
    pthread_create(&thread, 0, joins, 0);
    sem_wait(&done);
    sem_wait(&done);
    usleep(20000);
    pthread_cancel(thread);
    CHECK(pthread_join(thread, &value) == 0 && value == PTHREAD_CANCELED);
    pthread_cancel(forever);
    CHECK(pthread_join(forever, &value) == 0 && value == PTHREAD_CANCELED);
    /* These two are never joined. */
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &detached, posts, 0);
    pthread_create(&thread, 0, posts, 0);
    pthread_detach(thread);
    sem_wait(&done);
    sem_wait(&done);
    usleep(100000);
    /* This one calls nothing of MPI. */
    pthread_create(&thread, 0, computes, &value);
    CHECK(pthread_join(thread, &value) == 0 && value == &value);
    struct timespec until = {0, 0};
    pthread_create(&thread, 0, sleeps, &done);
    CHECK(pthread_tryjoin_np(thread, &value) == EBUSY);
    CHECK(pthread_timedjoin_np(thread, &value, &until) == ETIMEDOUT);
    while (pthread_tryjoin_np(thread, &value) == EBUSY) usleep(1000);
    CHECK(value == &done);
    pthread_create(&thread, 0, sleeps, &key);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    CHECK(pthread_timedjoin_np(thread, &value, &until) == 0 && value == &key);
    CHECK(pthread_join(pthread_self(), &value) == EDEADLK);
    CHECK(destroyed == 10);
    /* The child of a fork has threads of its own, which are none of the rank's. */
    const pid_t child = fork();
    if (child == 0) {
      pthread_create(&thread, 0, computes, &rank);
      _exit(pthread_join(thread, &value) == 0 && value == &rank ? 9 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
  }
  return MPI_Finalize();
}
C
run 2 ./app || { [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"; fail "without the tracer"; }
trace 2 ./app || fail "exit code $?"
check_archive
# Ten threads call MPI or not: one does not. Of the nine two are detached.
expect 9 '^THREAD_CREATE '
expect 9 '^THREAD_BEGIN '
expect 9 '^THREAD_END '
expect 7 '^THREAD_WAIT '
expect 7 '^ENTER .*"pthread_join"'
expect 9 '^ENTER .*"pthread_create"'
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
grep -q '^REGION .*"pthread_join".*Role: THREAD_WAIT, Paradigm: "Pthread"' definitions.txt || fail "the region of joins"
# The main thread and nine others, of one rank of two.
grep -q '^GROUP .*Type: COMM_LOCATIONS, Paradigm: "Pthread".* 10 Members' definitions.txt || fail "the group of threads"
check_replay
"$rubato" info run.otf2dir >info.txt
tr -s '\n ' '  ' <info.txt | grep -q '9 threads besides the main threads of their ranks call MPI. The joins of 7 of 9 are recorded' ||
  fail "info: $(cat info.txt)"
# Two of the threads are created after a sleep: lost time in it is queried inside pthread_create, and the creation is
# recorded after that.
! grep -q "clock ran" info.txt || fail "records go back in time: $(cat info.txt)"

# If a program is killed in a join, the records up to there are recovered.
build_program killed -pthread <<'C'
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void* dies(void* argument) {
  int x = 1, y = 0;
  MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (argument == 0) return argument;
  usleep(20000);
  kill(getpid(), SIGKILL);
  return argument;
}
int main(int argc, char** argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (int i = 0; i < 2; ++i) {
    pthread_create(&thread, 0, dies, i ? &thread : 0);
    pthread_join(thread, 0);
  }
  return MPI_Finalize();
}
C
trace 1 ./killed >out.txt 2>&1 && fail "exit code 0"
recover_ended
grep -q "rank 0 was in pthread_join" out.txt || fail "recover: $(cat out.txt)"
check_archive
expect 2 '^THREAD_CREATE '
expect 2 '^THREAD_BEGIN '
expect 1 '^THREAD_END '
expect 1 '^THREAD_WAIT '
expect 2 '^ENTER .*"pthread_join"'
check_replay

# A program without threads has nothing of all this.
build_program one <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return MPI_Finalize();
}
C
trace 1 ./one || fail "exit code $?"
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
grep -q -i pthread definitions.txt && fail "threads of a program without: $(grep -i pthread definitions.txt)"
pass
