#!/bin/sh
# What a program does in functions that MPI calls (those that copy and delete attributes) passes unrecorded. A
# communicator that is freed there is forgotten all the same: its handle may come back for another one that is
# made there too.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
static MPI_Comm inner, made[3];
static int rank, reused;
static int delete_inner(MPI_Comm comm, int key, void* value, void* extra) { return MPI_Comm_free(&inner); }
static int make_reverse(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  *flag = 0;
  for (int i = 0; i < 3; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made[i]); /* {2, 1, 0} */
  return MPI_SUCCESS;
}
int main(int argc, char** argv) {
  int frees, makes, x = 0;
  MPI_Comm outer, copy, old;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &frees, 0);
  MPI_Comm_create_keyval(make_reverse, MPI_COMM_NULL_DELETE_FN, &makes, 0);
  MPI_Comm_set_attr(MPI_COMM_WORLD, makes, 0);
  for (int i = 0; i < 10; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &inner); /* {0, 1} and {2} */
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &outer);
    MPI_Comm_set_attr(outer, frees, 0);
    old = inner;
    MPI_Comm_free(&outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int k = 0; k < 3; ++k) {
      reused += made[k] == old;
      if (rank == 2) MPI_Send(&x, 1, MPI_INT, 2, i, made[k]);
      if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 0, i, made[k], MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) printf("%d\n", reused);
  MPI_Finalize();
  return 0;
}
C
trace 3 ./app >out.txt || fail "exit code $?"
# If no handle came back, as under MPICH, which uses the others first, this would show nothing.
[ "$(cat out.txt)" -ge 1 ] || [ "$flavour" = mpich ] || fail "handles used again: $(cat out.txt)"
check_archive
expect 30 '^MPI_SEND '
expect 30 '^MPI_RECV '
# In the order of the communicator made last, rank 2 is 0 and rank 0 is 2.
expect 30 '^MPI_SEND  *2 .*Receiver: 2 '
expect 30 '^MPI_RECV  *0 .*Sender: 0 '
pass
