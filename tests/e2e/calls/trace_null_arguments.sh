#!/bin/sh
# Null pointers that MPI reports as errors must not crash the tracer.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
#define SAY(call) printf("%s: %s\n", #call, call == MPI_SUCCESS ? "fine" : "an error")
int main(int argc, char** argv) {
  int flag, index, count, indices[2], x = 0, y;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  SAY(MPI_Wait(NULL, MPI_STATUS_IGNORE));
  SAY(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
  SAY(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
  SAY(MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
  SAY(MPI_Waitany(2, NULL, &index, MPI_STATUS_IGNORE));
  SAY(MPI_Testany(2, NULL, &index, &flag, MPI_STATUS_IGNORE));
  SAY(MPI_Waitsome(2, NULL, &count, indices, MPI_STATUSES_IGNORE));
  SAY(MPI_Testsome(2, NULL, &count, indices, MPI_STATUSES_IGNORE));
  SAY(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  SAY(MPI_Request_free(NULL));
  SAY(MPI_Cancel(NULL));
  SAY(MPI_Start(NULL));
  SAY(MPI_Startall(2, NULL));
#ifndef OPEN_MPI /* which looks before it checks */
  SAY(MPI_Comm_free(NULL));
  SAY(MPI_Ibarrier(MPI_COMM_WORLD, NULL));
  SAY(MPI_Win_free(NULL));
  SAY(MPI_Mrecv(&x, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
  SAY(MPI_Imrecv(&x, 1, MPI_INT, NULL, &r));
#endif
  SAY(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
  SAY(MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
  /* and what follows is recorded as ever */
  MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
  MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
run 1 ./app >plain.txt
trace 1 ./app >traced.txt
cmp plain.txt traced.txt || fail "another outcome: $(diff plain.txt traced.txt)"
check_archive
expect 1 '^MPI_ISEND '
expect 1 '^MPI_ISEND_COMPLETE '
expect 1 '^MPI_RECV '
pass
