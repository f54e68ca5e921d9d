#!/bin/sh
# Receives from any source or tag are marked in the archive, blocking ones too, and `--wildcards arrival` matches them
# by arrival. Rank 1 sends 0.2 s after rank 2, so rank 0 receives from rank 2 first; with two ranks per node and a
# network latency of a second, rank 1 comes first.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <unistd.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int x = 0, y = 0, rank;
  MPI_Status s;
  MPI_Request r;
  MPI_Message m;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  if (rank == 0) {
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &s);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &s);
    MPI_Sendrecv(&x, 1, MPI_INT, 1, 5, &y, 1, MPI_INT, MPI_ANY_SOURCE, 6, W, &s);
    MPI_Irecv(&y, 1, MPI_INT, 2, MPI_ANY_TAG, W, &r);
    MPI_Wait(&r, &s);
    MPI_Recv(&y, 1, MPI_INT, 2, 8, W, &s);
    /* the same behind probes */
    MPI_Probe(MPI_ANY_SOURCE, 9, W, &s);
    MPI_Recv(&y, 1, MPI_INT, s.MPI_SOURCE, 9, W, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 9, W, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(&y, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    usleep(200000);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, W);
    MPI_Recv(&x, 1, MPI_INT, 0, 5, W, &s);
    MPI_Send(&rank, 1, MPI_INT, 0, 6, W);
    usleep(600000);
    MPI_Send(&rank, 1, MPI_INT, 0, 9, W);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 2, W);
    usleep(400000);
    MPI_Send(&rank, 1, MPI_INT, 0, 7, W);
    MPI_Send(&rank, 1, MPI_INT, 0, 8, W);
    MPI_Send(&rank, 1, MPI_INT, 0, 9, W);
  }
  MPI_Finalize();
  return 0;
}
C
trace 3 ./app
check_archive
check_replayed 'MPI_M?[Pp]robe'
expect 6 'RUBATO_POSTED_SOURCE[^;]*; INT32; -1)'    # the first two, that of MPI_Sendrecv, both probes and MPI_Mrecv
expect 3 'RUBATO_POSTED_TAG[^;]*; INT32; -1)'       # the first two and MPI_Irecv
expect 1 'RUBATO_FOUND_SOURCE[^;]*; INT32; 2)'

# rematched WILDCARDS EXPECTED
rematched() {
  "$rubato" replay run.otf2dir --only --on bandela:node.latency=1us,network.latency=1s,ppn=2 --wildcards "$1" \
    --json - >replay.json 2>replay.txt || fail "replay: $(cat replay.txt)"
  "$python" -c '
import json
scenario = json.load(open("replay.json"))["scenarios"][0]
print(scenario["wildcard_receives"], scenario["rematched_receives"])' >found.txt
  [ "$(cat found.txt)" = "$2" ] || fail "--wildcards $1: $(cat found.txt), not $2"
}
rematched recorded "0 0"
rematched arrival "6 2"
pass
