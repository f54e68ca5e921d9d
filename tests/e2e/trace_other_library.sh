#!/bin/sh
# A program that loads the other MPI library after its start, under this one's tracer: one line says that nothing
# is recorded, and the program runs as without it, also where handles are of another size.
. "$(dirname "$0")/lib.sh"
other=mpich
[ "$flavour" = mpich ] && other=openmpi
command -v mpicc.$other >/dev/null || skip "there is no mpicc.$other"
cat >plugin.c <<'C'
#include <mpi.h>
int work(void) {
  int rank, size, x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0}, n = 0, sum = 0;
  MPI_Comm twin;
  MPI_Datatype pair;
  MPI_Request r[2];
  MPI_Status s[2];
  MPI_Init(0, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_rank(twin, &rank);
  MPI_Comm_size(twin, &size);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Irecv(y, 3, pair, rank, 1, twin, &r[0]);
  MPI_Isend(x, 3, pair, rank, 1, twin, &r[1]);
  MPI_Waitall(2, r, s);
  MPI_Get_count(&s[0], MPI_INT, &n);
  /* more arguments than fit into registers */
  MPI_Sendrecv(x, 3, pair, rank, 2, y, 6, MPI_INT, rank, 2, twin, MPI_STATUS_IGNORE);
  MPI_Allreduce(&y[5], &sum, 1, MPI_INT, MPI_SUM, twin);
  MPI_Type_free(&pair);
  MPI_Comm_free(&twin);
  MPI_Finalize();
  return n == 6 && sum == 6 * size && r[0] == MPI_REQUEST_NULL ? 7 : 1;
}
C
mpicc.$other -O1 -w -shared -fPIC -o plugin.so plugin.c
cat >app.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  if (!plugin) { puts(dlerror()); return 2; }
  return ((int (*)(void))dlsym(plugin, "work"))();
}
C
cc -O1 -o app app.c -ldl
code=0
./app || code=$?
[ $code = 7 ] || skip "the program does not work without the tracer: $code"
# The launcher says which tracer; the program's library takes each process for a job of one.
code=0
run 1 "$rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt || code=$?
[ $code = 7 ] || fail "exit code $code: $(cat out.txt err.txt)"
[ "$(grep -c '^rubato: nothing is recorded: the program loaded another MPI library than' err.txt)" = 1 ] &&
  [ "$(grep -c '^rubato' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
[ ! -e run.otf2dir ] || fail "there is an archive"
pass
