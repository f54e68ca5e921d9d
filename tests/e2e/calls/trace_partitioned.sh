#!/bin/sh
# Partitioned communication: one message of all partitions from start to completion. 3 rounds of 4
# partitions of 5 doubles (160 bytes), received as 2 partitions of 10; the mode is on both sides.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C' 2>build.txt || skip "this MPI has no partitioned communication"
#include <mpi.h>
#if MPI_VERSION < 4
#error
#endif
int main(int argc, char** argv) {
  double data[20] = {0};
  int rank, low[2] = {0, 1}, flag;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Psend_init(data, 4, 5, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  } else {
    MPI_Precv_init(data, 2, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&r);
    if (rank == 0) {
      MPI_Pready_list(2, low, r);
      MPI_Pready(2, r);
      MPI_Pready_range(3, 3, r);
    } else {
      for (flag = 0; !flag;) MPI_Parrived(r, 1, &flag);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./app
check_archive
expect 3 '^MPI_ISEND .*Tag: 7, Length: 160,'
expect 3 '^MPI_ISEND_COMPLETE '
expect 3 '^MPI_IRECV_REQUEST '
expect 3 '^MPI_IRECV .*Tag: 7, Length: 160,'
expect 6 'RUBATO_SEND_MODE.*UINT8; 4'
expect 3 '^ENTER .*"MPI_Pready_list"'
# three calls a round make partitions ready, of the one request that there is
expect 9 '^PARAMETER_UINT64 .*RUBATO_REQUEST_READY'
[ "$(grep RUBATO_REQUEST_READY print.txt | sed 's/.*Value: //' | sort -u | wc -l)" = 1 ] ||
  fail "more than one request"
check_replayed MPI_Parrived

# The data arrive 2 s after the start, not before: on a perfect network the receiver ends with the sender. Another
# message is ready at once and does not wait.
build_program two <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  double data[20] = {0};
  int rank;
  MPI_Request r[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Psend_init(data, 2, 5, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(data, 2, 5, MPI_DOUBLE, 2, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, 1, r[1]);
    MPI_Pready(0, r[0]);
    usleep(2000000);
    MPI_Pready(1, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[1]);
  } else {
    MPI_Precv_init(data, 2, 5, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r[0]);
  MPI_Finalize();
  return 0;
}
C
trace 3 ./two
check_replayed ''
"$python" - <<'PYTHON' || fail "replayed ends"
import json, sys
ranks = {s["name"]: s for s in json.load(open("replay.json"))["scenarios"]}["perfect"]["ranks"]
ends = [rank["end"] for rank in ranks]
good = abs(ends[1] - ends[0]) < 1 and ends[2] < ends[0] - 1
sys.exit(0 if good else f"ends {ends}")
PYTHON
pass
