#!/bin/sh
# The first finding on a platform is the planted one: many small messages on a network of high latency, long messages,
# ranks that share a link, rendezvous without progress, neighbours on other nodes. The program only sets what is sent;
# what it costs is computed by hand from the platform.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int rank, size;
static char out[1000000], in[1000000];
static void compute(double seconds) {
  struct timespec t = {0, (long)(1e9 * seconds)};
  nanosleep(&t, 0);
}
/* With the next and the previous rank. */
void exchange(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
/* With one other rank: 0 and 1, 2 and 3. */
void swap(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, rank ^ 1, 0, in, bytes, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void overlap(int bytes) {
  MPI_Request r[2];
  MPI_Irecv(in, bytes, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, bytes, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, &r[1]);
  compute(0.020);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 200 && !strcmp(argv[1], "small"); ++i) exchange(8);
  for (int i = 0; i < 20 && !strcmp(argv[1], "long"); ++i) exchange(1000000);
  for (int i = 0; i < 20 && !strcmp(argv[1], "swap"); ++i) swap(100000);
  for (int i = 0; i < 10 && !strcmp(argv[1], "overlap"); ++i) overlap(1000000);
  MPI_Finalize();
  return 0;
}
C
build_program app -g -O1 -finstrument-functions '-finstrument-functions-exclude-function-list=compute'
network='format = 1
[level.network]
transfer = [{ from = "0B", latency = "1ms", bandwidth = "100MB/s" }]'
echo "$network" >network.toml
{ echo "$network"; echo 'protocol = [{ from = "0B", kind = "eager" }, { from = "64KB", kind = "pull" }]'; } >pull.toml
{ echo "$network"
  echo '[contention]'
  echo 'model = "buses"'
  echo 'network = 1'
} >bus.toml
{ echo "$network"
  echo '[level.node]'
  echo 'transfer = [{ from = "0B", latency = "0us", bandwidth = "100GB/s" }]'
} >nodes.toml

# first PROGRAM PLATFORM KIND SECONDS FUNCTION MESSAGES BYTES: compares the first finding on the platform, its cost
# within 2 %, and the messages of the function.
first() {
  trace 4 --functions ./app "$1" || fail "$1: exit code $?"
  "$rubato" replay run.otf2dir --on "$2" --json replay.json >text || fail "replay"
  "$rubato" profile run.otf2dir --on "$2" --json profile.json >/dev/null || fail "profile"
  "$python" - "$@" <<'P' || fail "$* $(cat text)"
import json, sys
program, platform, kind, seconds, function, messages, size = sys.argv[1:8]
found = json.load(open("replay.json"))["findings"]
assert found == json.load(open("profile.json"))["findings"]
found = [finding for finding in found if finding["scenario"] == platform]
assert found[0]["kind"] == kind, found
assert abs(found[0]["seconds"] / float(seconds) - 1) < 0.02, found
assert found[0]["function"].startswith(function), found
assert found[0]["messages"] == int(messages) and found[0]["bytes"] == int(size), found
P
}
# 200 exchanges of 4 ranks, one after the other: 1 ms each.
first small network.toml:ppn=1 latency 0.200 exchange 800 8
# 20 of 1 MB at 100 MB/s: 10 ms each.
first long network.toml:ppn=1 bandwidth 0.200 exchange 80 1000000
# On one bus the 80 messages take turns, 10 ms each, and only the first latency is seen: 801 ms. Alone an exchange takes
# 10 + 1 ms, 20 take 220.
first long bus.toml:ppn=1 contention 0.581 exchange 80 1000000
# A transfer takes 11 ms. Without progress all but the request, one latency of 1 ms, follows 20 ms of compute, ten times.
first overlap pull.toml:ppn=1 'no progress' 0.100 overlap 40 1000000
# 20 swaps of 100 kB take 1 ms latency and 1 ms each; within nodes 1 us.
first swap nodes.toml:placement=roundrobin:2 placement 0.040 swap 80 100000
grep -q "placement=block:2" text || fail "$(cat text)"
pass
