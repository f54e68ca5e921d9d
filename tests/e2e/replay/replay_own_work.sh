#!/bin/sh
# Time in MPI calls that no network changes stays on `perfect`: a user's reduction operation (5 times 10 ms on each of two
# ranks), all calls of a run of one rank, and the creation of windows beyond a synchronisation.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void slow(void* in, void* out, int* n, MPI_Datatype* t) {
  usleep(10000);
  for (int i = 0; i < *n; ++i) ((double*)out)[i] += ((double*)in)[i];
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double x = 1, y = 0;
  if (!strcmp(argv[1], "operation")) {
    MPI_Op op;
    MPI_Op_create(slow, 1, &op);
    for (int i = 0; i < 5; i++) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
  } else if (!strcmp(argv[1], "alone")) {
    const int n = 1 << 20;
    double *a = calloc(n, 8), *b = calloc(n, 8);
    MPI_Request q;
    for (int i = 0; i < 10; i++) {
      MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      MPI_Irecv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &q);
      MPI_Send(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
  } else {
    for (int i = 0; i < 10; i++) {
      char* base;
      MPI_Win win;
      MPI_Win_allocate(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
      MPI_Win_free(&win);
    }
  }
  MPI_Finalize();
}
C

# elapsed RANKS KIND: traces and replays it; sets perfect and undisturbed, in seconds.
elapsed() {
  rm -rf run.otf2dir
  trace "$1" ./app "$2"
  "$rubato" replay run.otf2dir --only --on perfect --on undisturbed --json all.json >out.txt || fail "replay of $2"
  perfect=$(jq '.scenarios[] | select(.name == "perfect") | .elapsed' all.json)
  undisturbed=$(jq '.scenarios[] | select(.name == "undisturbed") | .elapsed' all.json)
}
# expect_true CONDITION
expect_true() { jq -ne "$1" >/dev/null || fail "not $1"; }

elapsed 2 operation
expect_true "$perfect >= 0.050"
# Own work is 5 times 10 ms on each rank, and the finding names the function.
own=$(jq '[.scenarios[0].ranks[].calls.MPI_Allreduce.own_work] | add' all.json)
expect_true "$own >= 0.1 and $own < 0.15"
grep -q 'Main cost: own work, 5[0-9.]* ms: user operation slow (app.c:[0-9]*), in MPI_Allreduce (10 calls)' out.txt ||
  grep -q 'Main cost: own work, 5[0-9.]* ms: user operation slow, in MPI_Allreduce (10 calls)' out.txt || fail "$(cat out.txt)"
elapsed 1 alone
expect_true "$perfect >= 0.99 * $undisturbed"
grep -q '^One rank: compute is' out.txt || fail "$(cat out.txt)"
! grep -Eq 'erfect interconnect|infiniband|transfer' out.txt || fail "$(cat out.txt)"
elapsed 2 windows
expect_true "$perfect >= 0.5 * $undisturbed"
pass
