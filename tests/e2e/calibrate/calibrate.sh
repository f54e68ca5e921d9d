#!/bin/sh
# Two ranks calibrate; the platform file parses and has a curve for all that was measured. A third rank does not
# disturb. How well curves meet their samples: calibrate_accuracy.sh.
. "$(dirname "$0")/../lib.sh"

export PYTHONPATH=$tests/fixture
cat >shape.py <<'END'
import os

from calibration_files import *

assert platform["name"] == "cluster", platform["name"]
measured = platform["measured"]
for key in ("date", "mpi", "mpi_standard", "hosts", "ranks", "command", "compiler", "compiler_flags",
            "kernel", "cores", "load_average_at_start", "pinning", "samples", "cache"):
    assert measured[key], key
assert re.match("warm; _cold patterns walk through [0-9.]+[KMG]?i?B, the largest cache has ", measured["cache"])
settings = measured["mpi_settings"].split()         # lib.sh sets one; the launcher's own are no settings
assert "OMPI_MCA_rmaps_base_oversubscribe=1" in settings, settings
assert not any("jobid" in setting or "_uri" in setting for setting in settings), settings
sync = "window" if os.sysconf("SC_NPROCESSORS_ONLN") >= int(measured["ranks"]) else "barrier"
assert measured["collectives_sync"] == sync and measured["collectives_clock"] == "one for all ranks"
assert re.match("ranks? 0", measured["pinning"]), measured["pinning"]
assert measured["kernel"].startswith("Linux "), measured["kernel"]
library = "openmpi" if measured["mpi"].startswith("Open MPI") else "mpich"
assert platform["collectives"]["preset"] == library, platform["collectives"]
assert measured["ranks"] == "2" and measured["samples"] == "cluster.csv"
assert "network" not in platform["level"]          # one node
assert protocol[0] == {"from": "0B", "kind": "eager"}, protocol

assert len(node) >= 40, len(node)
assert {0, 1, 8, 8192, 1 << 20, 4 << 20} <= times.keys()
for r in node:
    assert float(r["seconds_min"]) <= float(r["seconds_avg"]) <= float(r["seconds_max"]), r
    assert int(r["loops"]) >= 3, r

# The processor's part is there, and all probes have their samples. A receive has its two parts at each length.
def lengths(pattern):
    return {int(r["bytes"]) for r in rows if r["level"] == "node" and r["pattern"] == pattern}

assert lengths("receive_overhead") == lengths("irecv") == lengths("irecv_wait") != set(), lengths("irecv")
assert 0 < curve(level["receive_overhead"], 0) < 1e-3
assert curve(level["unexpected_overhead"], 0) > 0
for name in "copy", "copy_cold":
    copies = {int(r["bytes"]): float(r["seconds_min"]) for r in rows if r["pattern"] == name}
    assert 1e-9 < copies[1024] < copies[1 << 20] < 1, copies
    if name == "copy":                              # what a buffered send takes more
        for n, seconds in copies.items():
            if n < 1024:                            # a few ns
                continue
            assert 0.5 < curve(platform["memory"]["copy"], n) / seconds < 2, (n, seconds)
assert "of the time lost" in measured["noise"], measured["noise"]
for name in "pingpong_ready", "pingpong_cold", "headtohead", "overlap", "bisection", "ring", "halo_nonblocking":
    sizes = [int(r["bytes"]) for r in rows if r["pattern"] == name and r["level"] == "node"]
    assert {0, 8, 4096, 262144, 4 << 20} <= set(sizes), (name, sizes)
patterns = {r["pattern"] for r in rows if r["level"] == "node"}
assert {"send_overhead", "receive_overhead", "irecv", "irecv_wait", "unexpected_overhead"} <= patterns, patterns
if len(protocol) > 1:
    assert {"sender_computes", "both_compute"} <= patterns, patterns
    assert all(p["kind"] in ("pull", "push", "async") for p in protocol[1:]), protocol

# Plausible on any machine, at rest or not: 50 ns to 1 ms for 8 B, 10 us to 1 s for 4 MiB.
assert 50e-9 < times[8] < 1e-3 and 1e-5 < times[4 << 20] < 1, times
assert times[8] < times[1 << 20] < times[4 << 20], times
END

cat >accuracy.py <<'END'
# For a machine shared with others: 2.5 times the tolerance of calibrate_accuracy.sh.
from calibration_files import *

errors = sorted(abs(one_way(n) / t - 1) for n, t in times.items())
print("median error of the curve:", errors[len(errors) // 2])
assert errors[len(errors) // 2] < 0.125, errors
END

plan 'collectives = "allreduce"'
run 2 "$rubato" calibrate -o cluster.toml --quick --seconds 8 --plan plan.toml >table.txt
[ -z "$(ls ./*.part* 2>/dev/null)" ] || fail "partial files remain"
grep -q 'cluster.toml: platform file' table.txt || fail "no summary: $(cat table.txt)"
"$python" shape.py || fail "what the files hold"
# The machine may change its speed while one is measured, hardly while three are.
mkdir again
plan 'patterns = "none"' 'collectives = "none"'
for try in 1 2 3; do
  "$python" "$work/accuracy.py" && break
  [ $try -lt 3 ] || fail "the curve does not meet its samples"
  cd "$work/again"
  run 2 "$rubato" calibrate -o cluster.toml --quick --seconds 5 --levels node --plan "$work/plan.toml" --force \
    >table.txt || fail "$(cat table.txt)"
done
cd "$work"

plan 'max_size = "64KiB"' 'collectives = "none"' 'time = "median"' 'digits = 6' \
  'patterns = ["ring", "ring_2", "halo_persistent", "bisection_synchronous_cold", "butterfly", "butterfly_nonblocking_cold"]' \
  'cold_buffer = "1MiB"' 'seed = 5'
run 3 "$rubato" calibrate -o three.toml --quick --seconds 4 --plan plan.toml --name trio --levels node >table.txt
! grep -q 'start ranks on two nodes' table.txt || fail "the network was not asked for: $(cat table.txt)"
grep -q '^.level.self.' three.toml || fail "self is always measured"
for pattern in ring ring_2 halo_persistent bisection_synchronous_cold butterfly butterfly_nonblocking_cold; do
  grep -q "^node,$pattern,512," three.csv || fail "no samples of $pattern"
done
! grep -q '^node,headtohead' three.csv || fail "a pattern that was not asked for"
grep -q "name = .trio." three.toml || fail "--name was not taken"
grep -q '^node,pingpong,65536,' three.csv || fail "max_size is not the last length"
! grep -q '^node,pingpong,98304,' three.csv || fail "lengths beyond max_size"

# The plan can be told from the file.
grep '^command = ' three.toml | grep -qF 'plan: max_size = ' || fail "not told: $(grep '^command' three.toml)"
grep '^command = ' three.toml | grep -qF 'seed = 5' || fail "not told: $(grep '^command' three.toml)"
grep -q "^seed = .6.$" three.toml || fail "not the seed of the plan and the launch: $(grep '^seed' three.toml)"
grep -q '^cache = .warm; _cold patterns walk through 2MiB,' three.toml || fail "cold_buffer: $(grep '^cache' three.toml)"

# The same from the samples alone, and what they were measured with.
for name in cluster:cluster:4 three:trio:6; do
  file=${name%%:*} digits=${name##*:} name=${name#*:}
  "$rubato" fit $file.csv --all -o again.toml --force --name "${name%:*}" --digits "$digits" >fit.txt || fail "fit"
  for one in $file again; do
    sed -E '/^fitted = /d' $one.toml >$one.txt
  done
  diff $file.txt again.txt >difference.txt || fail "fit differs from calibrate: $(cat difference.txt)"
  mv again.toml $file.again.toml
done
grep -q "^time = .min." cluster.toml && grep -q "^time = .median." three.toml || fail "what counts is not told"
grep -q '^[0-9]* rows of patterns without a curve were not used' fit.txt ||
  fail "fit does not tell what it left out: $(cat fit.txt)"
grep -q 'again.toml: platform file' fit.txt || fail "no summary: $(cat fit.txt)"
# With the other statistic: shorter times, and the file records it.
"$rubato" fit three.csv -o least.toml --name trio --time min >/dev/null || fail "fit --time min"
grep -q "^time = .min." least.toml || fail "what counts is not told"
"$python" - <<'END' || fail "medians are not longer than minima"
from platform_curve import load, one_way
least, median = (load(file)["level"]["node"] for file in ("least.toml", "three.toml"))
assert sum(one_way(least, n) for n in (8, 512, 8192)) < sum(one_way(median, n) for n in (8, 512, 8192))
END
cat three.csv three.csv three.csv three.csv >four.csv
"$rubato" compare four.csv four.csv --csv compared.csv >compared.txt || fail "compare"
grep -q '^B is faster in 0 and slower in 0 of [0-9]* cells' compared.txt || fail "a file differs from itself: $(cat compared.txt)"
grep -q '^node pingpong,65536,4,4,' compared.csv || fail "not all cells are compared"
pass
