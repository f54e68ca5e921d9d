#!/bin/sh
# MPI_Comm_free, collectives without data, cancelled receives and messages of MPI_PROC_NULL do not wait for other ranks:
# no clock violations are reported, every call is replayed, and a perfect interconnect adds no waits.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank;
  double none;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) usleep(50000);
  MPI_Comm_free(&copy);
  MPI_Bcast(&none, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &none, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Irecv(&none, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(&none, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  if (argc > 1 && argv[1][0] == 'b') {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (argc > 1 && argv[1][0] == 'f') {
    MPI_File file;
    none = rank;
    MPI_File_open(MPI_COMM_SELF, rank == 0 ? "file.0" : "file.1", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, &none, 1, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  if (rank == 1) usleep(50000);
  return MPI_Finalize();
}
C
trace 2 ./app
"$rubato" replay run.otf2dir --verify --json out.json >table.txt || fail "replay"
"$python" - <<'PYTHON' || fail "the numbers: $(cat table.txt)"
import json
data = json.load(open("out.json"))
measured, perfect = (scenario["elapsed"] for scenario in data["scenarios"][:2])
assert perfect <= measured, (perfect, measured)
assert data["trace"]["clock_violations"] == 0 and data["trace"]["kept"] == []
PYTHON
# A nonblocking barrier has records of its own, so a request without records does not wait.
trace 2 ./app barrier
"$rubato" info --strict run.otf2dir >info.txt || fail "a call is named beside a nonblocking barrier: $(cat info.txt)"
# With a file operation under way, its wait cannot be told from one without waiting: both calls of each rank are
# reported.
trace 2 ./app file
"$rubato" info run.otf2dir >info.txt
grep -q 'MPI_Wait (4 calls' info.txt || fail "waits beside a file operation are not named: $(cat info.txt)"
pass
