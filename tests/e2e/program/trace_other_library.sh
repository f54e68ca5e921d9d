#!/bin/sh
# A program that loads the other MPI library after its start, under this one's tracer: one line says that nothing is
# recorded, and the program runs as without the tracer, even with handles of another size. Then a fake library, which
# looks like an Open MPI version unknown to the tracer.
. "$(dirname "$0")/../lib.sh"
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

# It has nearly nothing of Open MPI, but handles of 64 bits, and sessions as Open MPI has them from 5 on.
cat >libmpi_fake.c <<'C'
int ompi_mpi_comm_world;
int PMPI_Init(int* argc, char*** argv) { return 0; }
int PMPI_Session_init(void* info, void* handler, void** session) {
  *session = (char*)info + (long)handler;
  return 0;
}
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
int MPI_Session_init(void* info, void* handler, void** session) { return PMPI_Session_init(info, handler, session); }
C
cc -O1 -shared -fPIC -o libmpi_fake.so libmpi_fake.c
cat >fake.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* session = 0;
  void* library = dlopen("./libmpi_fake.so", RTLD_NOW | RTLD_GLOBAL);
  if (!library) { puts(dlerror()); return 2; }
  if (argc == 1) return ((int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init"))(&argc, &argv) == 0 ? 7 : 1;
  ((int (*)(void*, void*, void**))dlsym(RTLD_DEFAULT, "MPI_Session_init"))((void*)0x700000000001, (void*)0x600000000002, &session);
  return session == (void*)0xd00000000003 ? 7 : 1;
}
C
cc -O1 -o fake fake.c -ldl
case $flavour in
openmpi) text="nothing is recorded: this Open MPI has no ompi_mpi_comm_self" ;;
mpich) text="nothing is recorded: the program loaded another MPI library than MPICH" ;;
esac
for argument in "" session; do
  # This tracer does not know the calls of sessions where its own library has none.
  [ -z "$argument" ] || grep -q MPI_Session_init "$build/generated/tracer-$flavour/call_ids.h" || continue
  code=0
  run 1 "$rubato" trace -o run.otf2dir ./fake $argument >out.txt 2>err.txt || code=$?
  [ $code = 7 ] || fail "unknown library, $argument: exit code $code: $(cat out.txt err.txt)"
  [ "$(grep -c "^rubato: $text" err.txt)" = 1 ] && [ "$(grep -c '^rubato' err.txt)" = 1 ] ||
    fail "unknown library, $argument: $(cat err.txt)"
done
pass
