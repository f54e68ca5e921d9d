#!/bin/sh
# `rubato trace --no-archive --report`: the tables at the end of a run are those of `rubato profile`, of an archive of the
# same program, call by call and pair by pair, also if records filled many blocks. Some are derived by hand.
. "$(dirname "$0")/../lib.sh"
build_program app -g <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
static char a[1 << 16], b[1 << 16];
static int rank, size, up, down;

static void messages(int i) {
  MPI_Request r[4];
  MPI_Status s;
  int flag;
  /* A ring of 100 bytes, in all modes of completion. */
  MPI_Irecv(b, 1000, MPI_CHAR, down, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 100, MPI_CHAR, up, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(a, 8, MPI_CHAR, up, 2, b, 8, MPI_CHAR, down, 2, MPI_COMM_WORLD, &s);
  MPI_Sendrecv(a, 8, MPI_CHAR, MPI_PROC_NULL, 2, b, 8, MPI_CHAR, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &s);
  if (rank == 0) MPI_Ssend(a, i % 50, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
  if (rank == 1) MPI_Send(a, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Probe(1, 4, MPI_COMM_WORLD, &s);
    MPI_Recv(b, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &s);
  }
  MPI_Irecv(b, 8, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(a, 7, MPI_CHAR, up, 5, MPI_COMM_WORLD, &r[1]);
  for (flag = 0; !flag; usleep(100)) MPI_Test(&r[0], &flag, &s);
  MPI_Wait(&r[1], &s);
  MPI_Irecv(b, 8, MPI_CHAR, down, 99, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &s);
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
  MPI_Reduce(a, b, 10, MPI_INT, MPI_SUM, n - 1, comm);
  MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, comm);
  MPI_Gather(me == 0 ? MPI_IN_PLACE : a, 5, MPI_CHAR, b, 5, MPI_CHAR, 0, comm);
  MPI_Scatter(a, 6, MPI_CHAR, me == 0 ? MPI_IN_PLACE : b, 6, MPI_CHAR, 0, comm);
  MPI_Gatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, 0, comm);
  MPI_Scatterv(a, counts, places, MPI_CHAR, b, me, MPI_CHAR, n - 1, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, b, 7, MPI_CHAR, comm);
  MPI_Allgather(a, 7, MPI_CHAR, b, 7, MPI_CHAR, comm);
  MPI_Allgatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  MPI_Alltoall(a, 9, MPI_CHAR, b, 9, MPI_CHAR, comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, b, 9, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = 11;
  MPI_Alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, comm);
  for (int i = 0; i < n; ++i) counts[i] = i;
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Scan(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, comm);
  MPI_Iallreduce(a, b, 20, MPI_INT, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Igatherv(a, me, MPI_CHAR, b, counts, places, MPI_CHAR, 0, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void one_sided(MPI_Win win) {
  int one = 1, old;
  MPI_Win_fence(0, win);
  MPI_Put(a, 40, MPI_CHAR, up, 0, 40, MPI_CHAR, win);
  MPI_Get(b, 50, MPI_CHAR, up, 100, 50, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, down, 0, win);
  MPI_Fetch_and_op(&one, &old, MPI_INT, down, 50, MPI_SUM, win);
  MPI_Accumulate(&one, 1, MPI_INT, down, 60, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(down, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  up = (rank + 1) % size, down = (rank + size - 1) % size;
  MPI_Request persistent[2];
  MPI_Recv_init(b, 64, MPI_INT, down, 6, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(a, 33, MPI_INT, up, 6, MPI_COMM_WORLD, &persistent[1]);
  MPI_Comm half, line;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int dims[1] = {size}, periods[1] = {0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  char* memory;
  MPI_Win win;
  MPI_Win_allocate(1 << 12, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int i = 0; i < rounds; ++i) {
    messages(i);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    /* 16 kB of records. */
    for (int k = 0; k < 2000; ++k) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (i < 20) {
      collectives(MPI_COMM_WORLD);
      collectives(half);
      collectives(MPI_COMM_SELF);
      MPI_Request r;
      MPI_Neighbor_alltoall(a, 12, MPI_CHAR, b, 12, MPI_CHAR, line);
      MPI_Ineighbor_allgather(a, 13, MPI_CHAR, b, 13, MPI_CHAR, line, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      one_sided(win);
    }
  }
  MPI_Win_free(&win);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&persistent[i]);
  MPI_Comm_free(&half);
  MPI_Comm_free(&line);
  MPI_Finalize();
  return 5;
}
C
cat >check.py <<'P'
import collections, csv, sys
directory, ranks, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def rows(name):
    with open(f"{directory}/{name}.tsv") as file:
        assert file.readline().startswith("# "), name
        return list(csv.DictReader(file, delimiter="\t"))
def same(what, got, expected):
    for key in sorted(set(got) | set(expected)):
        assert got.get(key) == expected.get(key), f"{what} {key}: {got.get(key)}, profile has {expected.get(key)}"
profile = collections.defaultdict(dict)
for row in csv.DictReader(open("profile.csv")):
    key = (row["name"], row["rank"], row["peer"], row["size"])
    profile[row["kind"]][key] = float(row["value"])
# Test is called as often as it takes.
steady = lambda table: {key: value for key, value in table.items() if key[0] != "MPI_Test"}
calls = {(r["function"], r["rank"], "", ""): r for r in rows("calls")}
same("calls", steady({k: float(r["calls"]) for k, r in calls.items()}), steady(profile["calls"]))
same("bytes completed", {k: float(r["bytes_completed"]) for k, r in calls.items() if r["bytes_completed"] != "0"},
     profile["bytes_completed"])
for direction, counts, sums in (("send", "sends", "bytes_sent"), ("receive", "receives", "bytes_received")):
    sizes = {(r["function"], r["rank"], "", r["from"]): r for r in rows("sizes") if r["direction"] == direction}
    same(counts, {k: float(r["count"]) for k, r in sizes.items()}, profile[counts])
    same(sums, {k: float(r["bytes"]) for k, r in sizes.items()}, profile[sums])
    # The tables by rank are their sums.
    for name, column in ((counts, "count"), (sums, "bytes")):
        table = {(function, row["rank"]): float(value) for row in rows(name) for function, value in row.items()
                 if function != "rank" and float(value) != 0}
        totals = collections.Counter()
        for (function, rank, _, _), row in sizes.items(): totals[function, rank] += float(row[column])
        same(name, table, {k: v for k, v in totals.items() if v != 0})
matrix = {("", r["rank"], r["peer"], ""): r for r in rows("matrix")}
same("matrix", {k: float(r["bytes"]) for k, r in matrix.items() if r["messages"] != "0"}, profile["matrix_size"])
same("matrix", {k: float(r["messages"]) for k, r in matrix.items() if r["messages"] != "0"}, profile["matrix_request"])
# By hand: rank 0 sends ints of i % 50 to rank 1 in each round.
total = 4 * sum(i % 50 for i in range(rounds))
[sends] = [r for r in rows("bytes_sent") if r["rank"] == "0"]
assert int(sends["MPI_Ssend"]) == total, sends["MPI_Ssend"]
# To the next rank go 100, 8, 7 and 132 bytes in each round, in the first 20 by one-sided calls a put of 40, 4 + 4 from
# the next rank's view (fetch and add, accumulate) are to the previous one; 4 are fetched by the previous rank's up.
# From rank 2 to rank 3 also 12 + 13 along the line, and what 3's down = 2 does not fetch: rank 3 fetches 4 from 2's memory,
# rank 1 gets 50 of it.
forward = rounds * (100 + 8 + 7 + 132) + 20 * (40 + 12 + 13) + 20 * 4
assert float(matrix["", "2", "3", ""]["bytes"]) == forward, (matrix["", "2", "3", ""], forward)
back = 20 * (4 + 4 + 12 + 13) + 20 * 50
assert float(matrix["", "3", "2", ""]["bytes"]) == back, (matrix["", "3", "2", ""], back)
# Times are not those of the same run; columns sum to about the run's length.
time = rows("time")
assert len(time) == ranks and float(time[0]["compute"]) > 0
whole = [sum(float(v) for k, v in row.items() if k != "rank") for row in time]
assert max(whole) < 1.5 * min(whole) + 0.1, whole
P
rounds=60
rc=0
trace 4 ./app $rounds 2>err.txt || rc=$?
[ $rc = 5 ] || fail "exit code $rc: $(cat err.txt)"
"$rubato" profile run.otf2dir --on measured --csv profile.csv >/dev/null 2>&1 || fail "profile"
# Records of 60 * 16 kB and more fill several blocks of 256 KiB.
rc=0
run 4 "$rubato" trace --no-archive --report tables ./app $rounds 2>err.txt || rc=$?
[ $rc = 5 ] || fail "exit code $rc: $(cat err.txt)"
grep '^rubato:' err.txt >said.txt
[ "$(wc -l <said.txt)" = 2 ] && grep -q '^rubato: summary: 4 ranks' said.txt || fail "$(cat err.txt)"
grep -q '^rubato: wrote .*tables; open .*tables/index.html$' said.txt || fail "$(cat err.txt)"
$python check.py tables 4 $rounds >out.txt 2>&1 || fail "$(tail -1 out.txt)"
[ "$(ls -d tables*)" = tables ] || fail "left: $(ls -d tables*)"
grep -q '<h1>4 ranks, elapsed ' tables/index.html || fail "page: $(grep '<h1>' tables/index.html)"

# Waits that are planted, by call site; a name that is taken. In each of 10 rounds each rank makes the other one wait for
# 30 ms. The program's own clock, which is that of both, says how long a rank waited: from its call until the other's.
build_program late -g <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static char a[1 << 20];
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char** argv) {
  int rank;
  double enter[10][3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) usleep(30000);
    enter[i][0] = now();
    if (rank == 0) MPI_Send(a, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    else MPI_Recv(a, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) usleep(30000);
    enter[i][1] = now();
    if (rank == 0) MPI_Ssend(a, 1 << 20, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    else MPI_Recv(a, 1 << 20, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) usleep(30000);
    enter[i][2] = now();
    MPI_Bcast(a, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (argc > 1 && rank == 1 && i == 5) kill(getpid(), SIGKILL);
  }
  char name[] = "enters.0";
  name[7] += rank;
  FILE* file = fopen(name, "w");
  for (int i = 0; i < 10; ++i) fprintf(file, "%.9f %.9f %.9f\n", enter[i][0], enter[i][1], enter[i][2]);
  fclose(file);
  MPI_Finalize();
  return 0;
}
C
mkdir tables-2
run 2 "$rubato" trace --no-archive --report tables --call-sites ./late 2>err.txt || fail "$(cat err.txt)"
grep -q 'tables-3/index.html$' err.txt || fail "$(cat err.txt)"
cat >waits.py <<'P'
import csv
def rows(name):
    file = open(f"tables-3/{name}.tsv")
    assert "all messages and collectives" in file.readline() or name != "waits"
    return list(csv.DictReader(file, delimiter="\t"))
waits = {(r["function"], r["rank"]): r for r in rows("waits")}
enters = [[[float(word) for word in line.split()] for line in open(f"enters.{rank}")] for rank in (0, 1)]
# Without a core a rank neither waits nor makes the other one wait; the kernel's time for that is uncertain.
lost = sum(float(row["lost_core"]) for row in rows("time"))
def planted(function, rank, call, kind):
    row = waits[function, str(rank)]
    judged = sum(max(0, other[call] - own[call]) for own, other in zip(enters[rank], enters[1 - rank]))
    assert judged > 0.2, (function, judged)
    assert abs(float(row[kind]) - judged) <= 0.03 * judged + lost, (kind, judged, lost, row)
    assert float(row[kind]) <= float(row["time"]) * 1.001 + 1e-6, (kind, row)
    for other in ("late_sender", "late_receiver", "collective"):
        assert other == kind or float(row[other]) < 0.5 * float(row[kind]), (other, row)
planted("MPI_Recv", 1, 0, "late_sender")
planted("MPI_Ssend", 0, 1, "late_receiver")
planted("MPI_Bcast", 1, 2, "collective")
sites = {(r["function"], r["call_site"].rpartition("/")[2]): r for r in rows("call_sites")}
lines = [n for n, line in enumerate(open("late.c"), 1) if "MPI_Recv" in line]
late, other = (sites["MPI_Recv", f"late.c:{line}"] for line in lines)
assert late["calls"] == "10" and late["receives"] == "10" and late["bytes_received"] == "80", late
assert float(late["late_sender"]) > 0.001, late
assert other["bytes_received"] == str(10 << 20) and float(other["late_sender"]) < 0.5 * float(late["late_sender"]), other
P
$python waits.py >out.txt 2>&1 || fail "$(tail -1 out.txt)"

# Killed: there is no report, nor half of one. (The launcher may end its process group.)
setsid -w "mpirun.$flavour" -n 2 "$rubato" trace --no-archive --report killed ./late killed 2>err.txt && fail "exit code 0"
[ -z "$(ls -d killed* 2>/dev/null)" ] || fail "left: $(ls -d killed*)"
expect_failure 2 "--report: expected --no-archive too" "$rubato" trace --report killed ./late
expect_failure 1 "nothing was started" "$rubato" trace --no-archive --report nowhere/killed ./late
pass
