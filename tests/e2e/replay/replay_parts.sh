#!/bin/sh
# In a vector collective no rank waits for a rank that sends nothing, however late it arrives: by the parts in the
# archive, for blocking, nonblocking and persistent calls.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#endif
#include <unistd.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int rank, a[4], b[4], to[4], from[4] = {1, 1, 1, 0}, displs[4] = {0, 1, 2, 3};
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  for (int i = 0; i < 4; ++i) to[i] = rank < 3;
  if (rank == 3) usleep(400000);
  MPI_Alltoallv(a, to, displs, MPI_INT, b, from, displs, MPI_INT, W);
  if (rank == 3) usleep(400000);
  MPI_Ialltoallv(a, to, displs, MPI_INT, b, from, displs, MPI_INT, W, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Alltoallv_init(a, to, displs, MPI_INT, b, from, displs, MPI_INT, W, MPI_INFO_NULL, &r);
  for (int i = 0; i < 2; ++i) {
    if (rank == 3) usleep(400000);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_replay
"$rubato" replay run.otf2dir --only --on perfect --on 'bandela:latency=1us,bandwidth=1GB/s' --json out.json >/dev/null
"$python" - <<'PYTHON' || fail "ranks wait for one that sends them nothing"
import json
for scenario in json.load(open('out.json'))['scenarios']:
    windows = [rank['elapsed'] for rank in scenario['ranks']]
    assert windows[3] >= 1.6, windows
    # Ranks 0 to 2 compute for microseconds; waiting for rank 3 in one of the four would take 0.4.
    for window in windows[:3]:
        assert window < 0.35, (scenario['name'], windows)
PYTHON
pass
