#!/bin/sh
# Collectives are measured beside messages: every one of them, with plausible times, both ways of beginning
# together, and formulas in p and d that the replay reads.
. "$(dirname "$0")/../lib.sh"

plan 'max_size = "32KiB"' 'patterns = "none"'
run 2 "$rubato" calibrate -o two.toml --all --quick --seconds 6 --plan plan.toml --levels self --html two.html >table.txt ||
  fail "two ranks: $(cat table.txt)"
grep -q '^node allreduce p=2 ' table.txt || fail "no table of collectives: $(cat table.txt)"
grep -q '^collectives_without_formula = ' two.toml || fail "nothing is said about formulas"
! grep -q '^formula = ' two.toml || fail "a formula of one number of processes"
grep -q '"name":"bcast"' two.html || fail "the page lacks the collectives"
grep -q '"title":"Transfer, one way"' two.html || fail "the page lacks the curves"

plan 'max_size = "1KiB"' 'patterns = []' 'sync = "window"' 'collectives = ["bcast", "allreduce"]' \
  'collective_sizes = ["16B", "1KiB"]' 'collective_repetitions = 5' 'window = "20ms"' 'tukey_factor = 0' \
  'cold_collectives = true' 'cold_buffer = "1MiB"' 'lengths = ["0B", "100B", "1KiB"]'
run 2 "$rubato" calibrate -o window.toml --raw raw.csv --quick --seconds 3 --plan plan.toml --levels self >/dev/null ||
  fail "windows"
grep -q "^collectives_sync = .window.$" window.toml || fail "[measured] does not tell: $(cat window.toml)"
grep -q "^collectives_cache = .cold.$" window.toml || fail "[measured] does not tell: $(cat window.toml)"

plan 'max_size = "64KiB"' 'patterns = "none"' 'collectives = "barrier,bcast,gather,allreduce"'
run 4 "$rubato" calibrate -o four.toml --quick --seconds 8 --plan plan.toml >/dev/null || fail "four ranks"

/usr/bin/env python3 - <<'END'
import csv, tomllib

def rows(name):
    return [r for r in csv.DictReader(line for line in open(name) if line[0] != "#")]

collectives = [r for r in rows("two.csv") if r["processes"] and r["seconds_min"]]
names = {r["pattern"] for r in collectives}
assert names == {"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
                 "alltoall", "alltoallv", "reduce", "allreduce", "scan", "exscan", "reduce_scatter"}, names
for r in collectives:
    assert r["level"] == "node" and r["processes"] == "2" and r["launch"] == "1", r
    least, median, most = (float(r["seconds_" + which]) for which in ("min", "median", "max"))
    assert 1e-8 < least <= median <= most, r
    assert int(r["loops"]) >= 4, r
    # Both definitions of the run-time: the longest time inside is never longer than from the earliest start
    # to the latest end; medians of the same observations, which the filter may have thinned out differently.
    assert float(r["seconds_global"]) > 0 and float(r["seconds_local"]) > 0, r
sizes = {r["bytes"] for r in collectives if r["pattern"] == "bcast"}
assert sizes == {"8", "64", "512", "4096", "32768"}, sizes
assert [r["bytes"] for r in collectives if r["pattern"] == "barrier"] == ["0"]

window = [r for r in rows("window.csv") if r["processes"] and r["seconds_min"]]
assert {r["pattern"] for r in window} <= {"bcast", "allreduce"} and window
assert {r["bytes"] for r in window} <= {"16", "1024"}, window
assert all(int(r["loops"]) <= 5 for r in window), window
for r in window:
    assert abs(float(r["seconds_median"]) / float(r["seconds_global"]) - 1) < 1e-4, r
    # Without a filter the mean is that of all observations.
    kept = [float(raw["seconds"]) for raw in rows("raw.csv") if (raw["pattern"], raw["bytes"]) == (r["pattern"], r["bytes"])]
    assert len(kept) == int(r["loops"]) and abs(sum(kept) / len(kept) / float(r["seconds_avg"]) - 1) < 1e-4, (r, kept)
# The listed lengths, and both sides of the eager limit.
eager = [int(r["bytes"]) for r in rows("window.csv") if r["level"] == "self" and r["pattern"] == "eager"]
lengths = {int(r["bytes"]) for r in rows("window.csv") if r["level"] == "self" and r["pattern"] == "sendrecv"}
assert lengths == {0, 100, 1024} | {n for limit in eager for n in (limit, limit + 1) if n <= 1024}, (lengths, eager)

# With shared cores there may not be enough time for some of the experiments.
four = [r for r in rows("four.csv") if r["processes"] and r["seconds_min"]]
assert {r["processes"] for r in four} == {"2", "3", "4"}
platform = tomllib.load(open("four.toml", "rb"))
explained = platform["measured"].get("collectives_by_algorithm", "").split(", ")
platform = platform["collectives"]
for name in "barrier", "bcast", "gather", "allreduce":
    measured_on = {r["processes"] for r in four if r["pattern"] == name}
    formula = platform.get(name, {}).get("formula")
    known = formula is not None or name in explained
    assert known == (len(measured_on) == 3), (name, measured_on, formula)
    assert formula is None or formula[0]["from"] == "0B", formula
END

# The same from the samples alone, and the replay prices by it.
"$rubato" fit four.csv --all -o again.toml --name four >fit.txt || fail "fit"
for file in four again; do sed -E '/^fitted = /d' $file.toml >$file.txt; done
diff four.txt again.txt >difference.txt || fail "fit differs from calibrate: $(cat difference.txt)"
# Two pairs of ranks at once: to be switched on where each rank had a core.
grep -q '^node_degradation = .*(2 to 2 pairs at once)' four.toml || fail "no degradation: $(cat four.toml)"
can_switch_on=no
if grep -q '^# .contention.$' four.toml; then can_switch_on=yes; fi
[ $can_switch_on = "$([ "$(getconf _NPROCESSORS_ONLN)" -ge 4 ] && echo yes || echo no)" ] || fail "contention: $(cat four.toml)"
grep -q '^MPI Function .*Goodness of fit (Q)$' fit.txt || fail "no table like Howell's: $(cat fit.txt)"
grep -q '^bcast  *(.*  -$' fit.txt || fail "a formula without launches has a Q: $(cat fit.txt)"

build_program program <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
  double from[64] = {0}, to[64];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(from, to, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
}
END
trace 4 ./program >/dev/null
"$rubato" replay run.otf2dir --on four.toml --all >replay.txt || fail "replay: $(cat replay.txt)"
if sed -n '/^\[collectives.allreduce\]/,/^\[/p' four.toml | grep -q '^formula = '; then
  grep -iq 'allreduce.*formula' replay.txt || fail "not priced by the formula: $(cat replay.txt)"
fi

plan 'collectives = "alreduce"'
expect_failure 1 "did you mean 'allreduce'" "$rubato" calibrate -o a.toml --plan plan.toml
plan '' 'sync = "barier"'
expect_failure 1 "plan.toml:2: sync: 'barier' is none of auto, barrier, window" "$rubato" calibrate -o a.toml --plan plan.toml
