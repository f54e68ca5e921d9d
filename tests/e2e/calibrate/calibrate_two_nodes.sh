#!/bin/sh
# Four ranks on two nodes without common memory (tests/fixture/nodes.sh): both levels are measured, each with the right
# partner, and the network is slower.
. "$(dirname "$0")/../lib.sh"
. "$tests/fixture/nodes.sh"
# One MPI flavour is enough: which ranks talk is decided by what all of them see.
[ "$flavour" = openmpi ] || skip "calibrated across nodes under Open MPI"
can_have_nodes || skip "namespaces are not permitted here"
make_nodes nodeA nodeB
plan 'max_size = "1KiB"' 'patterns = "none"' 'collectives = "none"'
run_nodes 4 "$rubato" calibrate -o cluster.toml --quick --seconds 8 --plan plan.toml >table.txt 2>&1 || fail "$(cat table.txt)"
cat >levels.py <<'END'
import csv, tomllib

platform = tomllib.load(open("cluster.toml", "rb"))
assert set(platform["level"]) - {"socket"} == {"self", "node", "network"}, platform["level"].keys()
assert platform["measured"]["hosts"] == "nodeA, nodeB", platform["measured"]
assert platform["measured"]["ranks"] == "4"
rows = [r for r in csv.DictReader(line for line in open("cluster.csv") if line[0] != "#") if r["seconds_min"]]
times = {level: {int(r["bytes"]): float(r["seconds_min"]) for r in rows
                 if r["level"] == level and r["pattern"] == "pingpong"} for level in ("node", "network")}
# TCP through a bridge against shared memory: microseconds against a tenth of one. Half of the lengths, as others may
# own a core for a while.
assert {0, 8, 1024} <= times["node"].keys() & times["network"].keys(), times
both = times["node"].keys() & times["network"].keys()
slower = sum(times["network"][n] > times["node"][n] for n in both)
assert slower > len(both) / 2, (slower, len(both))
for level in "node", "network":
    patterns = {r["pattern"] for r in rows if r["level"] == level}
    assert {"burst", "exchange", "send_overhead"} <= patterns, (level, patterns)
    # Two pairs of ranks on different nodes, and one on a node.
    assert ("pairs_2" in patterns) == (level == "network"), (level, patterns)
END
"$python" levels.py || fail "$(cat cluster.toml)"
grep -q '^node level, rank 0 and rank 1$' table.txt || fail "who is on the node: $(cat table.txt)"
grep -q '^network level, rank 0 and rank 3$' table.txt || fail "who is not: $(cat table.txt)"
! grep -q 'All ranks are on one node' table.txt || fail "it does not see two nodes: $(cat table.txt)"
pass
