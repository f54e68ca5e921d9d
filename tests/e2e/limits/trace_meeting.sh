#!/bin/sh
# Communicators created by MPI_Comm_accept and MPI_Comm_connect between the two halves of a job, then messages on them.
# Not read with python3-otf2 (intercommunicators).
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 1, y;
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half, inter, parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);  /* {0, 2} and {1, 3} */
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank % 2 == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
  else MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
  int me;
  MPI_Comm_rank(inter, &me);
  MPI_Sendrecv(&x, 1, MPI_INT, me, 1, &y, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) MPI_Close_port(port);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
run 4 ./app >plain.txt 2>&1 || skip "accept and connect do not work here"
trace 4 ./app
check_readable
expect 4 '^ENTER .*"MPI_Comm_accept"\|^ENTER .*"MPI_Comm_connect"'
expect 4 '^ENTER .*"MPI_Comm_disconnect"'
# One definition if the library knows the processes on the other side as its own (Open MPI does, MPICH
# does not: then nothing is recorded of them).
case $(otf2-print -G run.otf2dir/traces.otf2 | grep -c '^INTER_COMM ') in
  1) expect 4 '^MPI_SEND ' ;;
  0) expect 0 '^MPI_SEND ' ;;
  *) fail "intercommunicators" ;;
esac
check_replay
pass
