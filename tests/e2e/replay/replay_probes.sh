#!/bin/sh
# A receiver that waits in a probe, or polls, waits for its sender: as recorded, on models, and in the tables of a run
# without a trace. In each of 10 rounds rank 0 sends 4 ms late. Between polls the program
# computes as recorded: there it does not wait.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <string.h>
#include <unistd.h>
#define W MPI_COMM_WORLD
#define IS(name) !strcmp(kind, name)
int main(int argc, char** argv) {
  const char* kind = argv[1];
  int rank, flag, index;
  char b[100];
  MPI_Request q, persistent;
  MPI_Status s;
  MPI_Message m;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  MPI_Recv_init(b, 100, MPI_CHAR, 0, 5, W, &persistent);
  for (int i = 0; i < 10; i++) {
    MPI_Barrier(W);
    if (rank == 0) {
      MPI_Send(b, 100, MPI_CHAR, 1, 6, W);
      usleep(4000);
      MPI_Send(b, 100, MPI_CHAR, 1, 5, W);
      continue;
    }
    if (IS("probe_irecv")) {
      MPI_Probe(0, 5, W, &s);
      MPI_Recv(b, 100, MPI_CHAR, 0, 6, W, &s);
      MPI_Irecv(b, 100, MPI_CHAR, 0, 5, W, &q);
      MPI_Wait(&q, &s);
      continue;
    }
    MPI_Recv(b, 100, MPI_CHAR, 0, 6, W, &s);
    if (IS("probe_any")) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &s);
      MPI_Recv(b, 100, MPI_CHAR, s.MPI_SOURCE, s.MPI_TAG, W, &s);
    } else if (IS("probe_start")) {
      MPI_Probe(0, 5, W, &s);
      MPI_Sendrecv(b, 1, MPI_CHAR, 1, 7, b, 1, MPI_CHAR, 1, 7, W, &s);
      MPI_Start(&persistent);
      MPI_Wait(&persistent, &s);
    } else if (IS("mprobe_imrecv")) {
      MPI_Mprobe(0, 5, W, &m, &s);
      MPI_Imrecv(b, 100, MPI_CHAR, &m, &q);
      MPI_Wait(&q, &s);
    } else if (IS("iprobe_irecv")) {
      do MPI_Iprobe(0, 5, W, &flag, &s); while (!flag);
      MPI_Irecv(b, 100, MPI_CHAR, 0, 5, W, &q);
      MPI_Waitall(1, &q, &s);
    } else if (IS("improbe_mrecv")) {
      do MPI_Improbe(0, 5, W, &flag, &m, &s); while (!flag);
      MPI_Mrecv(b, 100, MPI_CHAR, &m, &s);
    } else {
      MPI_Irecv(b, 100, MPI_CHAR, 0, 5, W, &q);
      if (IS("testany")) do MPI_Testany(1, &q, &index, &flag, &s); while (!flag);
      if (IS("getstatus")) do MPI_Request_get_status(q, &flag, &s); while (!flag);
      MPI_Wait(&q, &s);
    }
  }
  MPI_Barrier(W);
  MPI_Request_free(&persistent);
  MPI_Finalize();
  return 0;
}
C
cat >check.py <<'P'
import json
def late(scenario):
    return scenario["ranks"][1]["waits"]["late_sender"]
of = {scenario["name"]: scenario for scenario in json.load(open("replay.json"))["scenarios"]}
measured, perfect = of["measured"], of["perfect"]
# Without a dependency on the sender all of these are 0. A rank that loses its core waits for less than its time in MPI.
assert late(measured) > 0.1 * measured["ranks"][1]["mpi"], (late(measured), measured["ranks"][1]["mpi"])
assert 0.02 < late(perfect) < 0.2, late(perfect)
rows = [row for row in json.load(open("sums.json"))["ranks"][1]["calls"] if row["call"] != "MPI_Barrier" and row["waits"]]
late, inside = sum(row["waits"]["late_sender"] for row in rows), sum(row["time"] for row in rows)
assert 0.1 * inside < late, (late, inside, rows)
P
judge() {
  trace 2 ./app "$1"
  "$rubato" replay run.otf2dir --only --on measured --on perfect --json - >replay.json 2>replay.txt ||
    fail "$1: $(cat replay.txt)"
  rm -f sums.json
  run 2 "$rubato" trace --no-archive --report sums.json ./app "$1" 2>err.txt || fail "$1: $(cat err.txt)"
  $python check.py >out.txt 2>&1
}
# The machine may interrupt a loop for longer than a thousand polls. What is before is not taken for a wait, so that a run
# of many interrupts tells nothing: another one is judged.
for kind in probe_irecv probe_any probe_start mprobe_imrecv iprobe_irecv improbe_mrecv testany getstatus; do
  until_quiet judge $kind || fail "$kind: $(tail -1 out.txt)"
done
# Each probe that found something names it.
trace 2 ./app mprobe_imrecv
check_archive
expect 10 'RUBATO_FOUND_TAG[^;]*; INT32; 5)'
expect 0 'RUBATO_POSTED_TAG[^;]*; INT32; -1)'
pass
