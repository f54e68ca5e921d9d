#!/bin/sh
# The main job end to end on two ranks: calibrate, trace, look, replay, and the promises that hold for
# any program: "measured" is the archive, a perfect interconnect is never slower, a slower one never
# faster; every report says the same.
. "$(dirname "$0")/lib.sh"
command -v "mpicc.$flavour" >/dev/null || exit 77
cat >app.c <<'C'
/* Each step: unequal work, an exchange with the other rank (small and large), a sum. */
#include <mpi.h>
static char out[200000], in[200000];
int main(int argc, char** argv) {
  int rank, step;
  double mine = 1, sum;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (step = 0; step < 300; ++step) {
    const int bytes = step % 3 ? 64 : (int)sizeof out;
    volatile double work = 0;
    for (int i = 0; i < 20000 * (1 + rank); ++i) work += i;
    MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD, &request);
    MPI_Send(out, bytes, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
C
"mpicc.$flavour" -O1 -o app app.c

# Up to more than the program sends.
plan 'max_size = "256KiB"' 'patterns = "none"' 'collectives = "allreduce"'
run 2 "$rubato" calibrate --quick --seconds 6 --plan plan.toml -o cluster.toml >calibrate.txt 2>&1 || fail "calibrate: $(cat calibrate.txt)"
run 2 "$rubato" trace -o run.otf2dir ./app >trace.txt 2>&1 || fail "trace: $(cat trace.txt)"
"$rubato" info run.otf2dir >info.txt || fail "info"
grep -q '^Ranks  *2 on 1 node' info.txt || fail "info says: $(cat info.txt)"

"$rubato" replay run.otf2dir --on measured --on undisturbed --on cluster.toml --on perfect \
  --on 'cluster.toml:latency*10,bandwidth/10' --json out.json --csv out.csv --html out.html \
  >table.txt 2>err.txt || fail "replay: $(cat err.txt)"
# On a busy machine longer messages may have been measured as faster, which replay reports.
! grep -v '^rubato: warning: cluster.toml: longer messages take less time' err.txt || fail "replay complains: $(cat err.txt)"
/usr/bin/python3 - <<'PYTHON' || fail "the numbers"
import collections, csv, json
data = json.load(open("out.json"))
elapsed = {s["name"]: s["elapsed"] for s in data["scenarios"]}
print(elapsed)
assert data["format"] == 1 and len(data["scenarios"]) == 5
assert data["trace"]["kept"] == [] and data["trace"]["messages"] == 600
assert elapsed["perfect"] <= elapsed["measured"]
assert elapsed["undisturbed"] <= elapsed["measured"]
assert elapsed["perfect"] <= elapsed["cluster.toml"]
assert elapsed["cluster.toml:latency*10,bandwidth/10"] >= elapsed["cluster.toml"]
for scenario in data["scenarios"]:
    assert scenario["traffic"]["node"] == {"messages": 600, "bytes": 2 * (100 * 200000 + 200 * 64)}
    for rank in scenario["ranks"]:
        assert rank["calls"]["MPI_Allreduce"]["calls"] == 300
        inside = sum(call["time"] for name, call in rank["calls"].items()
                     if name not in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"))
        assert abs(inside - rank["mpi"]) < 1e-6 + 1e-3 * rank["mpi"], (inside, rank["mpi"])
        rows = sum(rank[key] for key in ("compute", "mpi", "flushing", "not_recorded", "lost_core"))
        assert abs(rows - rank["elapsed"]) < 1e-6 + 1e-3 * rank["elapsed"], (rows, rank)
        waits = sum(rank["waits"].values())
        assert waits <= rank["mpi"] * (1 + 1e-9)
        # Nothing else is left there, but MPI_Comm_rank.
        if scenario["name"] == "perfect":
            assert rank["mpi"] - waits <= rank["calls"]["MPI_Comm_rank"]["time"] + 1e-9

rows = list(csv.DictReader(open("out.csv")))
for row in rows:
    scenario = next(s for s in data["scenarios"] if s["name"] == row["scenario"])
    rank = scenario["ranks"][int(row["rank"])]
    kind, name = row["kind"], row["name"]
    time = (rank["waits"][name] if kind == "wait" else
            rank["calls"][name]["time"] if kind in ("mpi", "outside") else rank[name])
    assert abs(float(row["time_s"]) - time) < 1e-12
    assert (kind == "outside") == (name in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"))
# A group-by adds up: one thread of each rank calls MPI.
sums = collections.Counter()
for row in rows:
    if row["kind"] in ("compute", "mpi", "other"):
        sums[row["scenario"], row["rank"]] += float(row["time_s"])
for scenario in data["scenarios"]:
    for rank in scenario["ranks"]:
        assert abs(sums[scenario["name"], str(rank["rank"])] - scenario["elapsed"]) < 1e-9
PYTHON
grep -q 'On a perfect interconnect\|Even a perfect interconnect\|For the machine of the recording, the model' table.txt || fail "no answer: $(cat table.txt)"
grep -q '"level":"node"' out.html || fail "the report has no calibration curve"

# Again, to the same names: reports are replaced, the same bytes; a trace goes to the next free name.
cp out.json before.json
"$rubato" replay run.otf2dir --on measured --on undisturbed --on cluster.toml --on perfect \
  --on 'cluster.toml:latency*10,bandwidth/10' --json out.json >table2.txt || fail "second replay"
cmp before.json out.json || fail "two replays differ"
cmp table.txt table2.txt || fail "two tables differ"
cp run.otf2dir/traces.otf2 before.otf2
run 2 "$rubato" trace -o run.otf2dir ./app >again.txt 2>&1 || fail "second trace: $(cat again.txt)"
[ -d run-2.otf2dir ] && cmp before.otf2 run.otf2dir/traces.otf2 || fail "an archive was overwritten"
pass
