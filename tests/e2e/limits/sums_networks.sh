#!/bin/sh
# `rubato profile SUMS --on SCENARIO`, of a run without an archive. On a network with a latency of 1 s the elapsed time is
# that of the messages that follow one another, whatever the computation takes: a replay of an archive of the same program
# and one of the steps in the file of sums agree, though they are of two runs. 0.1 % of it exceeds what the runs differ by.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
static char a[1 << 16], b[1 << 16];
static int rank, size, up, down;

static void messages(int i) {
  MPI_Request r[4];
  MPI_Status s;
  /* Rings: nonblocking, in both directions, of any source, cancelled; then two ranks alone. */
  MPI_Irecv(b, 1000, MPI_CHAR, down, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 100, MPI_CHAR, up, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(a, 8, MPI_CHAR, up, 2, b, 8, MPI_CHAR, down, 2, MPI_COMM_WORLD, &s);
  MPI_Sendrecv(a, 8, MPI_CHAR, MPI_PROC_NULL, 2, b, 8, MPI_CHAR, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &s);
  MPI_Irecv(b, 8, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 7, MPI_CHAR, up, 5, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Irecv(b, 8, MPI_CHAR, down, 99, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &s);
  if (rank == 0) MPI_Ssend(a, i % 50, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
  if (rank == 1) MPI_Send(a, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Probe(1, 4, MPI_COMM_WORLD, &s);
    MPI_Recv(b, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &s);
  }
}

static void collectives(MPI_Comm comm) {
  int n, me, counts[16], places[16];
  MPI_Request r;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < n; ++i) counts[i] = i, places[i] = 100 * i;
  MPI_Barrier(comm);
  MPI_Bcast(a, 100, MPI_CHAR, n - 1, comm);
  MPI_Bcast(a, 0, MPI_CHAR, 0, comm);
  MPI_Reduce(me == 0 ? MPI_IN_PLACE : a, b, 10, MPI_INT, MPI_SUM, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
  MPI_Gather(me == 0 ? MPI_IN_PLACE : a, 5, MPI_CHAR, b, 5, MPI_CHAR, 0, comm);
  MPI_Scatter(a, 6, MPI_CHAR, me == 0 ? MPI_IN_PLACE : b, 6, MPI_CHAR, 0, comm);
  MPI_Scatterv(a, counts, places, MPI_CHAR, b, me, MPI_CHAR, n - 1, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  MPI_Alltoall(a, 9, MPI_CHAR, b, 9, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = 11 * (i != me);
  MPI_Alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = i;
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
  MPI_Scan(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Iallreduce(a, b, 20, MPI_INT, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int many = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  up = (rank + 1) % size, down = (rank + size - 1) % size;
  for (int i = 0; i < many; ++i) {
    int sum;
    MPI_Sendrecv(a, 8, MPI_CHAR, up, 2, b, 8, MPI_CHAR, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* A message of rank 0 is received in the step behind that of its send. */
    if (rank == 0) MPI_Send(a, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1 && i >= 3) MPI_Recv(b, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (i % 3 == 0) MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; rank == 1 && i < 3 && i < many; ++i)
    MPI_Recv(b, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (many > 0) return MPI_Finalize();
  MPI_Request persistent[2];
  MPI_Comm half;
  MPI_Recv_init(b, 64, MPI_INT, down, 6, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(a, 33, MPI_INT, up, 6, MPI_COMM_WORLD, &persistent[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int i = 0; i < 10; ++i) {
    messages(i);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    collectives(MPI_COMM_WORLD);
    collectives(half);
    collectives(MPI_COMM_SELF);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&persistent[i]);
  MPI_Comm_free(&half);
  return MPI_Finalize();
}
C
cat >check.py <<'P'
import json, sys
of_archive, of_sums = ({entry[key]: entry["elapsed"] for entry in json.load(open(name))[part]}
                       for name, part, key in (("archive.json", "scenarios", "name"), ("sums.json", "networks", "scenario")))
one_of = json.load(open(sys.argv[1]))["steps_one_of"]
assert (one_of > 1) == (sys.argv[2] == "some"), one_of
for name in ("bandela:latency=1s,bandwidth=1MB/s", "ethernet-1g:ppn=1,latency*100000"):
    archive, sums = of_archive[name], of_sums[name]
    assert archive > 100 and abs(sums / archive - 1) < 0.001, (name, archive, sums)
P
on="--on bandela:latency=1s,bandwidth=1MB/s --on ethernet-1g:ppn=1,latency*100000"
# judge RANKS all|some ARGUMENTS...: the file has all steps, or some.
judge() {
  ranks=$1 which=$2
  shift 2
  rm -rf run.otf2dir "$which"
  trace "$ranks" ./app "$@" 2>err.txt || fail "$(cat err.txt)"
  run "$ranks" "$rubato" trace --no-archive --report "$which" ./app "$@" 2>err.txt || fail "$(cat err.txt)"
  # shellcheck disable=SC2086
  "$rubato" replay run.otf2dir $on --json archive.json >/dev/null 2>err.txt || fail "$(cat err.txt)"
  # shellcheck disable=SC2086
  "$rubato" profile "$which" $on --json sums.json --csv sums.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
  $python check.py "$which" "$which" >check.txt 2>&1 || fail "$(tail -1 check.txt)"
}
judge 4 all
grep -q '^Other networks, by a replay of all steps between collectives of all ranks$' out.txt || fail "$(cat out.txt)"
grep -q '^"\{0,1\}bandela:latency=1s,bandwidth=1MB/s"\{0,1\},elapsed,' sums.csv || fail "$(cat sums.csv)"
# Without --on: a perfect interconnect.
"$rubato" profile all | grep -q '^perfect  *[0-9]' || fail "$("$rubato" profile all)"
judge 2 all 300
# More steps than are kept: 2^18 words of a rank are 37,449 of its calls of 7 words.
judge 2 some 40000
grep -q '^Other networks, estimated from [0-9,]* steps between collectives of all ranks, one of [248]' out.txt ||
  fail "$(cat out.txt)"
sed 's/steps_one_of": [0-9]*/steps_one_of": 2/; s/step [0-9]/stop 1/g' some >damaged
expect_failure 1 "the sums cannot be read: rank 0, line" "$rubato" profile damaged
pass
