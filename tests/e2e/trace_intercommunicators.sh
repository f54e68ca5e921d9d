#!/bin/sh
# Intercommunicators: both groups, messages and collectives between them, the roots OTF2 has for them.
# Not read with python3-otf2, which cannot open any archive with such a definition (3.0.2 takes group B
# for the parent).
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0, y;
  MPI_Comm half, inter, merged;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);  /* {0,2} and {1,3} */
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
  int me;
  MPI_Comm_rank(inter, &me);
  MPI_Sendrecv(&x, 1, MPI_INT, me, 1, &y, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
  MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, inter);
  MPI_Intercomm_merge(inter, 0, &merged);
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
otf2-print -Werror --silent run.otf2dir/traces.otf2 >check.txt || fail "otf2-print: $(cat check.txt)"
[ "$(otf2-print -G run.otf2dir/traces.otf2 | grep -c '^INTER_COMM ')" = 1 ] || fail "definition"
expect 4 '^MPI_SEND '
expect 4 '^MPI_RECV '
expect 1 'BCAST.*Root: SELF, Sent: 8, Received: 0'
expect 1 'BCAST.*Root: THIS_GROUP, Sent: 0, Received: 0'
expect 2 'BCAST.*Root: 0 .*Sent: 0, Received: 4'
expect 4 'ALLREDUCE.*Sent: 8, Received: 8'
check_replayed none
pass
