#!/bin/sh
# Jobs started by MPI_Comm_spawn get separate archives next to that of the parent job, under free names. They inherit
# the tracer from the launcher, so the launcher is started under the tracer.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
/* Two parents start two children, twice. These hear a number from parent 0 and meet in a Barrier. */
int main(int argc, char** argv) {
  int x = 0, rank;
  MPI_Comm parent, children;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Bcast(&x, 1, MPI_INT, 0, parent);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("a child heard %d\n", x);
    MPI_Comm_disconnect(&parent);
  } else {
    for (x = 1; x <= 2; ++x) {
      MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
      MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
      MPI_Comm_disconnect(&children);
    }
  }
  return MPI_Finalize();
}
C
run 2 ./app >plain.txt 2>err.txt || skip "this MPI cannot spawn: $(tail -n 1 err.txt)"
mkdir run.otf2dir.spawned-1
"$rubato" trace -o run.otf2dir "mpirun.$flavour" -n 2 ./app >out.txt 2>err.txt || fail "exit code: $(cat err.txt)"
cmp plain.txt out.txt || fail "another result"
# A line for each archive: of the program, and of two that it spawned beside the directory that was there.
[ "$(grep -c '^rubato: wrote run.otf2dir' err.txt)" = 3 ] && [ "$(grep -c rubato: err.txt)" = 3 ] ||
  fail "something else to say: $(cat err.txt)"
rmdir run.otf2dir.spawned-1 || fail "the directory of another user was used"

# look DIRECTORY SPAWNS BARRIERS: what two ranks did there.
look() {
  [ -d "$1" ] || fail "no $1: $(ls)"
  rm -rf run.otf2dir print.txt
  mv "$1" run.otf2dir
  check_archive
  expect "$2" '^ENTER .*"MPI_Comm_spawn"'
  expect "$3" '^ENTER .*"MPI_Barrier"'
  expect 2 '^ENTER .*"MPI_Finalize"'
  check_replay
}
mv run.otf2dir parents.otf2dir
look parents.otf2dir 4 0
look run.otf2dir.spawned-2 0 2
look run.otf2dir.spawned-3 0 2
pass
