#!/bin/sh
# The first finding of a program with one planted fault is that fault, quiet and beside a busy program: an imbalanced
# function, a late root, a sender that is late, barriers between work in turn, many small messages, receivers that let
# synchronous sends wait, and nothing. The same list is in replay, profile and advise.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* Sleeps, so that ranks that share a core do not disturb each other. */
static void compute(double seconds) {
  struct timespec t = {0, (long)(1e9 * seconds)};
  nanosleep(&t, 0);
}
static int rank, size;
void assemble(double seconds) { compute(seconds); }
void solve(double seconds) { compute(seconds); }
int main(int argc, char** argv) {
  const char* fault = argv[1];
  static char data[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 12; ++i) {
    if (!strcmp(fault, "imbalance")) {
      assemble(rank == 1 ? 0.030 : 0.005);
      MPI_Allreduce(&rank, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "root")) { /* rank 0 computes before the broadcast, the others after it */
      if (rank == 0) assemble(0.020);
      MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
      if (rank != 0) solve(0.020);
    } else if (!strcmp(fault, "sender")) { /* rank 0 serves the others, who then compute as long */
      if (rank == 0) {
        assemble(0.020);
        for (int to = 1; to < size; ++to) MPI_Send(data, 8, MPI_CHAR, to, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        solve(0.020);
        MPI_Send(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      }
      if (rank == 0)
        for (int from = 1; from < size; ++from) MPI_Recv(data, 8, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(fault, "barrier")) { /* one rank computes between two barriers, in turn */
      for (int turn = 0; turn < size; ++turn) {
        if (rank == turn) solve(0.008);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    } else if (!strcmp(fault, "receiver")) { /* the others send before they compute, rank 0 receives after it */
      if (rank != 0) {
        MPI_Ssend(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        solve(0.020);
      } else {
        solve(0.020);
        for (int from = 1; from < size; ++from)
          MPI_Recv(data, 8, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(fault, "small")) {
      for (int n = 0; n < 200; ++n)
        MPI_Sendrecv(data, 8, MPI_CHAR, next, 0, data + 8, 8, MPI_CHAR, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      compute(0.040);
    }
  }
  MPI_Finalize();
  return 0;
}
C
build_program app -g -O1 -finstrument-functions '-finstrument-functions-exclude-function-list=compute'

# first FAULT KIND FUNCTION [RANKS]: records the program and compares its first finding other than lost cores.
first() {
  trace "${4-4}" --functions --call-sites ./app "$1" || fail "$1: exit code $?"
  "$rubato" replay run.otf2dir --json replay.json >/dev/null 2>&1 || fail "replay"
  "$rubato" profile run.otf2dir --json profile.json >/dev/null || fail "profile"
  "$python" - "$@" <<'P' || fail "$* $(cat replay.json | head -c 3000)"
import json, sys
fault, kind, function = sys.argv[1:4]
replay = json.load(open("replay.json"))
found = replay["findings"]
assert found == json.load(open("profile.json"))["findings"]
if kind == "small messages" and "undisturbed" in [scenario["name"] for scenario in replay["scenarios"]]:
    sys.exit()  # the machine was busy, and what messages cost is not known
found = [finding for finding in found if finding["kind"] != "lost cores"]
if kind == "nothing":
    # (Ranks sleep for not quite the same time, and starting together takes a moment.)
    assert sum(finding["seconds"] for finding in found) < 0.1 * 12 * 0.040, found
    sys.exit()
assert found[0]["kind"] == kind, (fault, found)
assert function == "-" or (found[0]["function"] or "").startswith(function), (fault, found)
assert kind in ("load imbalance", "small messages") or found[0]["call_path"][-1].startswith("app.c:"), (fault, found)
P
}
busy=
for load in quiet busy; do
  if [ $load = busy ]; then
    (while :; do :; done) & busy=$!
    before_exit="kill $busy"
  fi
  # Rank 1 computes 0.3 s, the mean rank 0.135 s.
  first imbalance "load imbalance" assemble
  first root "late root" assemble
  first sender "late sender" assemble
  first barrier synchronisation -
  first nothing nothing -
done
kill $busy
before_exit=:
first receiver "late receiver" -
"$rubato" advise run.otf2dir >advise.txt || fail "advise"
tr -s ' \n' ' ' <advise.txt | grep -q "late receiver: sends wait for their receivers in MPI_Ssend, at app.c:[0-9]*, [0-9]* % of it for rank 0, in solve" ||
  fail "$(cat advise.txt)"
first small "small messages" - 2
pass
