#!/bin/sh
# `rubato trace --no-archive --report`: `rubato profile` shows the same of the file of sums as of an archive of the same
# program, call by call and pair by pair, also if records filled many blocks. Some are derived by hand.
. "$(dirname "$0")/../lib.sh"
cp "$here/sums.c" app.c
build_program app -g
cat >check.py <<'P'
import collections, csv, json, sys
file, ranks, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def same(what, got, expected):
    for key in sorted(set(got) | set(expected)):
        assert got.get(key) == expected.get(key), f"{what} {key}: {got.get(key)}, profile has {expected.get(key)}"
def kinds(name):
    kinds = collections.defaultdict(dict)
    for row in csv.DictReader(open(name)):
        kinds[row["kind"]][row["name"], row["rank"], row["peer"], row["size"]] = float(row["value"])
    return kinds
profile, report = kinds("profile.csv"), kinds("report.csv")
# Test is called as often as it takes.
steady = lambda table: {key: value for key, value in table.items() if key[0] != "MPI_Test"}
same("calls", steady(report["calls"]), steady(profile["calls"]))
for kind in ("bytes_completed", "sends", "bytes_sent", "receives", "bytes_received", "matrix_size", "matrix_request"):
    assert report[kind], kind
    same(kind, report[kind], profile[kind])
# The file itself has the same, and so has JSON, with sums over sizes.
sums, data = json.load(open(file)), json.load(open("report.json"))
[scenario] = data["scenarios"]
try:
    import jsonschema
    jsonschema.validate(sums, json.load(open(sys.argv[4])))
except ImportError:
    print("there is no jsonschema: the file was not compared with its schema")
assert sums["kind"] == "rubato sums" and len(sums["ranks"]) == len(scenario["ranks"]) == ranks
assert data["trace"]["command"] == sums["command"] == f"./app {rounds}", sums["command"]
for rank, shown in zip(sums["ranks"], scenario["ranks"]):
    number = str(rank["rank"])
    assert {call["call"] for call in rank["calls"]} == set(shown["calls"])
    for call in rank["calls"]:
        name = call["call"]
        assert call["calls"] == report["calls"][name, number, "", ""] == shown["calls"][name]["calls"]
        for key in ("sends", "bytes_sent", "receives", "bytes_received"):
            total = sum(size[key] for size in call["sizes"])
            assert total == shown["calls"][name][key], (name, key)
            assert total == sum(v for (of, r, _, _), v in report[key].items() if (of, r) == (name, number)), (name, key)
# By hand: rank 0 sends ints of i % 50 to rank 1 in each round.
total = 4 * sum(i % 50 for i in range(rounds))
assert scenario["ranks"][0]["calls"]["MPI_Ssend"]["bytes_sent"] == total, scenario["ranks"][0]["calls"]["MPI_Ssend"]
# To the next rank go 100, 8, 7 and 132 bytes in each round, in the first 20 by one-sided calls a put of 40, 4 + 4 from
# the next rank's view (fetch and add, accumulate) are to the previous one; 4 are fetched by the previous rank's up.
# From rank 2 to rank 3 also 12 + 13 along the line, and what 3's down = 2 does not fetch: rank 3 fetches 4 from 2's memory,
# rank 1 gets 50 of it.
matrix = report["matrix_size"]
forward = rounds * (100 + 8 + 7 + 132) + 20 * (40 + 12 + 13) + 20 * 4
assert matrix["", "2", "3", ""] == forward, (matrix["", "2", "3", ""], forward)
back = 20 * (4 + 4 + 12 + 13) + 20 * 50
assert matrix["", "3", "2", ""] == back, (matrix["", "3", "2", ""], back)
# Times are not those of the same run; those of a rank add up to the run's length.
for rank in range(ranks):
    times = {name: value for (name, r, _, _), value in report["time"].items() if r == str(rank)}
    whole, lost = sum(times.values()), times.get("lost_core", 0)
    assert times["compute"] > 0 and abs(whole - scenario["elapsed"]) < 0.01 * scenario["elapsed"] + lost, (rank, times)
for call in (call for rank in sums["ranks"] for call in rank["calls"]):
    assert 0 <= call["time_min"] <= call["time_max"] <= call["time"] * 1.000001, call
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
grep -q '^rubato: wrote tables; next: rubato profile tables$' said.txt || fail "$(cat err.txt)"
"$rubato" profile tables --csv report.csv --json report.json >report.txt || fail "profile of sums"
$python check.py tables 4 $rounds "${tests%/tests}/share/doc/schemas/sums.schema.json" >out.txt 2>&1 || fail "$(tail -1 out.txt)"
[ "$(ls -d tables* .tables* 2>/dev/null)" = tables ] || fail "left: $(ls -d tables* .tables* 2>/dev/null)"
# The summary of the end of the run, then the tables.
[ "tables: $(sed -n 's/^rubato: summary: //p' said.txt)" = "$(sed '/^$/,$d' report.txt | tr '\n' ' ' | sed 's/  */ /g; s/ $//')" ] ||
  fail "$(head -3 report.txt)"
"$rubato" profile tables --all >all.txt || fail "profile --all of sums"
grep -q '^MPI_Ssend .*[0-9]' all.txt || fail "$(cat all.txt)"
grep -q 'SIZE(row, column)' all.txt || fail "no matrix: $(cat all.txt)"
expect_failure 2 "--on measured needs an archive" "$rubato" profile tables --on measured
expect_failure 1 "tables is an input file" "$rubato" profile tables --csv tables

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
grep -q 'rubato profile tables-3$' err.txt || fail "$(cat err.txt)"
cat >waits.py <<'P'
import json
sums, [scenario] = json.load(open("tables-3")), json.load(open("waits.json"))["scenarios"]
assert sums["waits_known"] and sums["sampled_one_of"] == 1
enters = [[[float(word) for word in line.split()] for line in open(f"enters.{rank}")] for rank in (0, 1)]
# Without a core a rank neither waits nor makes the other one wait; the kernel's time for that is uncertain.
lost = sum(rank["lost_core"] for rank in sums["ranks"])
def planted(function, rank, call, kind):
    row = scenario["ranks"][rank]["calls"][function]
    judged = sum(max(0, other[call] - own[call]) for own, other in zip(enters[rank], enters[1 - rank]))
    assert judged > 0.2, (function, judged)
    assert abs(row["waits"][kind] - judged) <= 0.03 * judged + lost, (kind, judged, lost, row)
    assert row["waits"][kind] <= row["time"] * 1.001 + 1e-6, (kind, row)
    for other in ("late_sender", "late_receiver", "collective_wait"):
        assert other == kind or row["waits"][other] < 0.5 * row["waits"][kind], (other, row)
planted("MPI_Recv", 1, 0, "late_sender")
planted("MPI_Ssend", 0, 1, "late_receiver")
planted("MPI_Bcast", 1, 2, "collective_wait")
[lines] = [[n for n, line in enumerate(open("late.c"), 1) if "MPI_Recv" in line]]
def site(rows, line):
    [row] = [row for row in rows if row["call"] == "MPI_Recv" and row["call_site"].endswith(f"late.c:{line}")]
    return row
late, other = (site(sums["ranks"][1]["calls"], line) for line in lines)
[size] = late["sizes"]
assert late["calls"] == 10 and size["receives"] == 10 and size["bytes_received"] == 80 and size["size"] == 8, late
assert late["waits"]["late_sender"] > 0.001, late
assert sum(size["bytes_received"] for size in other["sizes"]) == 10 << 20, other
assert other["waits"]["late_sender"] < 0.5 * late["waits"]["late_sender"], other
# The table of call sites: sizes are bounds of their class.
shown = {row["path"][0].rpartition("/")[2]: row for row in scenario["call_sites"] if row["call"] == "MPI_Recv"}
row = shown[f"late.c:{lines[0]}"]
assert (row["calls"], row["ranks"], row["messages"], row["bytes"]) == (10, 1, 10, 80), row
assert (row["size_min"], row["size_max"]) == (8, 15), row
assert (row["time"], row["time_min"], row["time_max"]) == (late["time"], late["time_min"], late["time_max"]), row
P
"$rubato" profile tables-3 --json waits.json >/dev/null || fail "profile of sums with call sites"
$python waits.py >out.txt 2>&1 || fail "$(tail -1 out.txt)"

# Killed: there is no report, nor half of one. (The launcher may end its process group.)
setsid -w "mpirun.$flavour" -n 2 "$rubato" trace --no-archive --report killed ./late killed 2>err.txt && fail "exit code 0"
[ -z "$(ls -d killed* .killed* 2>/dev/null)" ] || fail "left: $(ls -d killed* .killed* 2>/dev/null)"
expect_failure 2 "--report: expected --no-archive too" "$rubato" trace --report killed ./late
expect_failure 1 "nothing was started" "$rubato" trace --no-archive --report nowhere/killed ./late
pass
