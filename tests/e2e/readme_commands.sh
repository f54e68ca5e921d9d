#!/bin/sh
# What README tells a user to type works: the program and scenarios of the quickstart, which find the imbalance that
# README shows, and the lines under "On a cluster", with fewer ranks. The numbers that README shows multiply.
. "$(dirname "$0")/lib.sh"
root=${tests%/tests}
[ "$flavour" = openmpi ] || skip "LAMMPS is of Open MPI"
command -v lmp >/dev/null || skip "there is no lmp"

# Percentages are rounded: a product of three is off by at most 1.5 % of it, and 0.5.
cat >multiply.py <<'PYTHON'
import re, sys
text = " ".join(open(sys.argv[1]).read().split())  # the sentence may continue on the next line
number = lambda pattern: float(re.search(pattern, text)[1])
efficiency = re.search(r"Parallel efficiency (\d+) % = load balance (\d+) % × serialisation (\d+) % × transfer (\d+) %", text)
if efficiency:  # not where other programs had the cores
    whole, *parts = map(float, efficiency.groups())
    product = parts[0] * parts[1] * parts[2] / 1e4
    assert abs(product - whole) <= 0.5 + sum(0.5 * product / part for part in parts), (whole, parts)
if len(sys.argv) > 2:
    assert round(product) == whole, (product, whole)
    base = number(r"undisturbed ([\d.]+) \(")
    assert round(100 * (1 - number(r"perfect ([\d.]+) \(") / base)) == number(r"`perfect`: (\d+) %")
    assert round(100 * number(r"imbalance, ([\d.]+) s") / base) == number(r"equal work does \((\d+) %")
    assert round(100 * (number(r"bandwidth/10 ([\d.]+) \(") / base - 1)) == number(r"slower would cost (\d+) %")
else:
    # Rank 0 has three quarters of the atoms: mean / maximum is 1/2 / (3/4) = 67 %, a little more with what both do.
    balance, serialisation = map(float, re.search(r"load balance (\d+) % × serialisation (\d+) %", text).groups())
    assert balance <= 85 and balance < serialisation, (balance, serialisation)
PYTHON
$python multiply.py "$root/README.md" shown || fail "the numbers in README"

sed 's/^run .*/run 300/' "$root/share/examples/drop.in" >drop.in
plan 'max_size = "256KiB"' 'patterns = "none"' 'collectives = "allreduce"'
run 2 "$rubato" calibrate --quick --seconds 6 --plan plan.toml -o cluster.toml >calibrate.txt 2>&1 || fail "calibrate: $(cat calibrate.txt)"
# The trace and the replay are the lines of the quickstart itself.
grep -A2 'rubato" trace -o' "$root/share/quickstart" | grep -q 'lmp -in drop.in -log none' || fail "the quickstart traces something else"
run 2 "$rubato" trace -o drop.otf2dir lmp -in drop.in -log none >lammps.txt 2>trace.txt || fail "trace: $(cat trace.txt)"
# shellcheck disable=SC2016  # the text of the script
line=$(sed -n '/^.$rubato. replay/,/^done_step/p' "$root/share/quickstart" | grep -v '^done_step')
eval "$line" || fail "replay of the quickstart: $line"
grep -q '^cluster.toml:latency\*10,bandwidth/10 ' replay.log || fail "replay: $(cat replay.log)"
# Without the platform, whose calibration of six seconds may miss the machine: then nothing is concluded.
"$rubato" replay drop.otf2dir >found.txt || fail "replay: $(cat found.txt)"
$python multiply.py found.txt || fail "no imbalance is found: $(head -8 found.txt)"

# The lines under "On a cluster": 2 ranks on this machine, and the program above.
PATH=$build/bin:$PATH
awk '/^## /{ inside = /^## On a cluster/ } !inside { next } /^```/ { fences++; next } fences == 1 { sub(/ +#.*/, ""); print }' \
  "$root/README.md" | sed -E 's/mpirun -n [0-9]+( --map-by [^ ]+)?/run 2/; s,\./app args,lmp -in drop.in -log none,;
    s/old\.otf2dir new/drop.otf2dir run/; s/calibrate -o/calibrate --quick --seconds 6 --plan plan.toml --force -o/' >lines.txt
[ "$(wc -l <lines.txt)" = 6 ] || fail "README has other lines: $(cat lines.txt)"
while read -r line; do
  code=0
  eval "$line" >line.txt 2>&1 </dev/null || code=$?
  case $line in
    *--fail-above*) [ $code = 0 ] || [ $code = 3 ] ;;  # on a busy machine the second run may take longer
    *) [ $code = 0 ] ;;
  esac || fail "$line: exit code $code: $(cat line.txt)"
done <lines.txt
[ -s report.html ] || fail "no report.html"
"$rubato" platforms | grep -q '^infiniband-hdr ' || fail "no platforms"
pass
