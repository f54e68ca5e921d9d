#!/bin/sh
# The main thread of rank 0 sits in pthread_join, or in the join of a std::thread, while its thread waits for a late
# message of rank 1: what makes the message come sooner or later moves the join.
. "$(dirname "$0")/../lib.sh"
command -v "mpicxx.$flavour" >/dev/null || skip "there is no mpicxx.$flavour"
cat >app.cc <<'CC'
#include <mpi.h>
#include <pthread.h>
#include <time.h>

#include <thread>

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);  // what others take of the core is no computation
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static void compute(double seconds) {
  for (const double until = now() + seconds; now() < until;) {
  }
}
static void receive() {
  int x;
  MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void* receives(void*) {
  receive();
  return nullptr;
}
int main(int argc, char**) {
  int provided, rank;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    compute(0.3);
    MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else {
    if (argc > 1) {
      std::thread(receive).join();
    } else {
      pthread_t thread;
      pthread_create(&thread, nullptr, receives, nullptr);
      pthread_join(thread, nullptr);
    }
    compute(0.05);
  }
  return MPI_Finalize();
}
CC
"mpicxx.$flavour" -O1 -w -pthread -o app app.cc || fail "mpicxx"
for how in '' std; do
  # shellcheck disable=SC2086
  trace 2 ./app $how || { [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"; fail "exit code"; }
  check_archive
  expect 1 '^THREAD_WAIT '
  "$rubato" replay run.otf2dir --on measured --on measured:rank1.cpu*10 --on perfect --on bandela:latency=200ms \
    --verify --json results.json >/dev/null || fail "replay"
  "$python" - <<'P' || fail "$(head -c 2000 results.json)"
import json
results = json.load(open("results.json"))
assert results["identity"]["differing"] == 0, results["identity"]
measured, fast, perfect, slow = (scenario["ranks"][0]["end"] for scenario in results["scenarios"][:4])
# Rank 1 computes 0.3 s before it sends: without nine tenths of that the rank that waits for it is as much sooner done,
# less what its thread may have taken to begin.
assert 0.2 < measured - fast, (measured, fast)
# The latency of the one message on the way of rank 0; the barrier before it takes a few more of them.
assert slow - perfect > 0.2 - 1e-6, (slow, perfect)
elapsed = [scenario["elapsed"] for scenario in results["scenarios"]]
assert elapsed[1] < elapsed[0] - 0.2, elapsed
for scenario in results["scenarios"]:
    for rank in scenario["ranks"]:
        parts = sum(rank[row] for row in ("compute", "mpi", "flushing", "not_recorded", "lost_core", "before", "after"))
        assert abs(parts - rank["threads"] * scenario["elapsed"]) < 1e-6, rank
P
  "$rubato" info run.otf2dir >info.txt
  tr -s '\n ' '  ' <info.txt | grep -q '1 thread besides the main thread of its rank calls MPI. Its join is recorded' ||
    fail "info: $(cat info.txt)"
done
pass
