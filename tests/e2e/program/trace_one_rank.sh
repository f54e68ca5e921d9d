#!/bin/sh
# Without mpirun: one rank. Default name of the archive, the monotonic clock, and messages to oneself.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int x = 0, y;
  MPI_Request r;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &x);
  MPI_Irecv(&y, 1, MPI_INT, 0, 70000, MPI_COMM_SELF, &r);
  MPI_Send(&x, 1, MPI_INT, 0, 70000, MPI_COMM_SELF);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
C
"$rubato" trace --clock monotonic ./app || fail "exit code $?"
mv rubato-app.otf2dir run.otf2dir || fail "not named after the program"
check_archive
expect 1 '^MPI_SEND .*"MPI_COMM_SELF".*Tag: 70000, Length: 4'
otf2-print -G run.otf2dir/traces.otf2 | grep -q 'Ticks per Seconds: 1000000000' || fail "not in nanoseconds"
pass
