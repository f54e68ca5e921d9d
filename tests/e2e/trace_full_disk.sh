#!/bin/sh
# A full disk: the program ends as ever, one warning, nothing that looks like a whole archive.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can mount a small file system"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, x = 0, n = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n; ++i) {
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 7;
}
C
mkdir disk
mount -t tmpfs -o size=2m tmpfs disk || skip "cannot mount a tmpfs"
trap 'umount "$work/disk"' EXIT
# Full at the end of the files, in the middle of them, and from the start.
for messages in 40000 300000 1; do
  rm -rf disk/*
  [ $messages = 1 ] && dd if=/dev/zero of=disk/filler bs=1k >/dev/null 2>&1 || true
  rc=0
  run 2 "$rubato" trace -o disk/run.otf2dir ./app $messages >out.txt 2>err.txt || rc=$?
  [ $rc = 7 ] || fail "exit code $rc with $messages messages: $(cat err.txt)"
  [ "$(grep -c '^rubato:' err.txt)" = 1 ] || fail "messages: $(cat err.txt)"
  grep -q '^rubato: the trace is incomplete' err.txt || fail "message: $(cat err.txt)"
  [ ! -e disk/run.otf2dir/traces.otf2 ] || fail "there is an anchor file"
  [ -e disk/run.otf2dir/INCOMPLETE ] || fail "no file INCOMPLETE"
done
umount disk
trap - EXIT
pass
