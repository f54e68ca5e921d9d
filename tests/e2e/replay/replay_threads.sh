#!/bin/sh
# MPI_THREAD_MULTIPLE: threads that exchange messages on communicators and tags of their own, share a
# channel, complete each other's requests and take part in collectives are replayed, to the tick.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread <<'C'
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#define THREADS 2
#define ROUNDS 40
#define REQUESTS 50
static int rank;
static MPI_Comm comms[THREADS];
static MPI_Request handed_over[REQUESTS];
static pthread_barrier_t meeting;

/* Ping-pong with the thread of the same number; a barrier of theirs now and then. */
static void* own_communicator(void* argument) {
  int me = *(int*)argument;
  static char buffers[THREADS][100000];
  for (int i = 0; i < ROUNDS; ++i) {
    int bytes = 1 + i * i * 50;
    for (int half = 0; half < 2; ++half) {
      if ((rank + half) % 2) MPI_Send(buffers[me], bytes, MPI_CHAR, 1 - rank, i, comms[me]);
      else MPI_Recv(buffers[me], bytes, MPI_CHAR, 1 - rank, i, comms[me], MPI_STATUS_IGNORE);
    }
    if (i % 10 == 0) MPI_Barrier(comms[me]);
  }
  return 0;
}

/* All threads of both ranks on one tag of the world; all messages have one length. */
static void* one_channel(void* argument) {
  int x = 0, y;
  for (int i = 0; i < 50; ++i) {
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    else MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return argument;
}

/* Waits for what the main thread has posted. */
static void* finish(void* unused) {
  for (int i = 0; i < REQUESTS; ++i) {
    pthread_barrier_wait(&meeting);
    MPI_Wait(&handed_over[i], MPI_STATUS_IGNORE);
  }
  return unused;
}

static void run(void* (*work)(void*)) {
  int numbers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], 0, work, &numbers[i]);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], 0);
}

int main(int argc, char** argv) {
  int provided, in[REQUESTS], out = 0;
  pthread_t finisher;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) { MPI_Finalize(); return 77; }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  run(own_communicator);
  run(one_channel);
  pthread_barrier_init(&meeting, 0, 2);
  pthread_create(&finisher, 0, finish, 0);
  for (int i = 0; i < REQUESTS; ++i) {
    MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &handed_over[i]);
    pthread_barrier_wait(&meeting);
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD);
  }
  pthread_join(finisher, 0);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&comms[i]);
  return MPI_Finalize();
}
C
trace 2 ./app || { [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"; fail "exit code"; }
check_readable
"$rubato" replay run.otf2dir --on measured --on perfect --on bandela:latency=1us --on bandela:latency=1ms \
  --verify --json results.json || fail "replay"
"$python" - <<'P' || fail "$(head -c 2000 results.json)"
import json
results = json.load(open("results.json"))
trace = results["trace"]
assert results["identity"]["differing"] == 0, results["identity"]
# Per rank 2 threads with 40 ping-pongs and 50 messages to a waiting thread; 2 * 50 from rank 0.
assert trace["messages"] == 2 * (2 * 40 + 50) + 100, trace["messages"]
assert trace["unmatched_sends"] == trace["unmatched_receives"] == 0, trace
assert trace["kept"] == [], trace["kept"]
# The main thread, 2 + 2 threads and the one that waits.
assert trace["locations"] == 2 * 6, trace["locations"]
# Per rank 2 MPI_Comm_dup, 2 * 4 barriers and MPI_Finalize.
assert trace["collectives"] == 2 * (2 + 8 + 1), trace["collectives"]
scenarios = {scenario["name"]: scenario for scenario in results["scenarios"]}
for scenario in scenarios.values():
    assert scenario["deadlock"] is None, scenario["deadlock"]
    for rank in scenario["ranks"]:
        assert rank["calls"]["MPI_Wait"]["calls"] == 50, rank["calls"]["MPI_Wait"]
        assert rank["calls"]["MPI_Barrier"]["calls"] == 8
measured, perfect = scenarios["measured"]["elapsed"], scenarios["perfect"]["elapsed"]
assert perfect <= measured * (1 + 1e-12), (perfect, measured)
# A ping-pong waits for two trips a round: 2 ranks * 2 threads * 40 rounds * 2 ms, less what the threads
# did meanwhile.
few, many = (sum(rank["calls"]["MPI_Recv"]["time"] for rank in scenarios[f"bandela:latency=1{unit}"]["ranks"])
             for unit in ("us", "ms"))
assert many - few > 0.08, (few, many)
P
"$rubato" info run.otf2dir >info.txt
grep -q 'threads besides the main' info.txt || fail "info does not speak of threads: $(cat info.txt)"
pass
