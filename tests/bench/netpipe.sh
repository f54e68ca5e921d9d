#!/usr/bin/env bash
# Beside NetPIPE on the same path: netpipe.sh FLAVOUR BUILD_DIR [shm|tcp] [options of rubato calibrate]
# Not a test: run it by hand, on a machine that has nothing else to do.
#
# Five rounds of NetPIPE and of rubato calibrate, one after the other, of each length the least of all rounds (some
# machines are at rest in some of them only); then, for each length of NetPIPE from 1 B to 1 MiB, the platform file's
# one way (o_s + T + o_r) over NetPIPE's half round trip. What NetPIPE prints is read by `rubato import`. It prints the
# median over the lengths, and the lengths that are more than 10 % off.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/path.sh
. "$here/path.sh" "$@"
program=NPopenmpi
[[ $flavour == openmpi ]] || program=NPmpich2
command -v "$program" >/dev/null || {
  echo "there is no $program (packages netpipe-openmpi, netpipe-mpich2)"
  exit 1
}

for round in 1 2 3 4 5; do
  quiet "np$round.txt" "${launch[@]}" "$program" -u 1048576 -o "np$round.out"
  "$build/bin/rubato" import "--level=node=np$round.txt" -o "np$round.toml" --csv "np$round.csv" >/dev/null
  printf '%s\n' 'patterns = "none"' 'collectives = "none"' 'max_size = "2MiB"' >plan.toml
  ((round == 1)) || echo 'lengths = "cal1.csv"' >>plan.toml
  quiet "cal$round.txt" "${launch[@]}" "$build/bin/rubato" calibrate --plan plan.toml "${options[@]}" \
    --launch "$round" -o "cal$round.toml"
done
cat cal?.csv >all.csv
"$here/../fixture/least_launch.py" all.csv >least.csv
"$build/bin/rubato" fit least.csv -o all.toml >fit.txt

PYTHONPATH=$here/../fixture /usr/bin/python3 - <<'END'
import csv
import statistics

from platform_curve import load, one_way

level = load("all.toml")["level"]
level = level.get("node") or level["network"]
theirs = {}
for round in range(1, 6):
    with open(f"np{round}.csv") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            size = float(row["bytes"])
            if 1 <= size <= 1 << 20:
                theirs[size] = min(theirs.get(size, 1), float(row["seconds_min"]))
middle = {size: one_way(level, size) / seconds for size, seconds in sorted(theirs.items())}
print(f"8 B take {one_way(level, 8) * 1e9:.0f} ns, NetPIPE says {theirs[8] * 1e9:.0f}")


def tell(what, ratios):
    off = [abs(value - 1) for value in ratios.values()]
    print(f"{what} at {len(ratios)} lengths: median {100 * (statistics.median(ratios.values()) - 1):+.1f} %, "
          f"median of the amounts {100 * statistics.median(off):.1f} %, "
          f"{sum(o <= 0.05 for o in off)} within 5 %")


tell("curve", middle)
# NetPIPE's figures are the least of a few means over long loops, the curve is of the least of many short ones. Beside
# them, so that neither luck nor slow moments are all on one side: the least of our rounds' medians and of their means.
ours = {"seconds_median": {}, "seconds_avg": {}}
with open("all.csv") as file:
    for row in csv.DictReader(line for line in file if not line.startswith("#")):
        if row["pattern"] != "pingpong":
            continue
        size = float(row["bytes"])
        for statistic, values in ours.items():
            values[size] = min(values.get(size, 1), float(row[statistic]))
for statistic, name in ("seconds_median", "medians"), ("seconds_avg", "means"):
    values = ours[statistic]
    tell(name,
         {size: values[size] / theirs[size] for size in sorted(theirs) if size in values})
for size, value in middle.items():
    if abs(value - 1) > 0.1:
        print(f"  {size:9.0f} B  {100 * (value - 1):+6.1f} %")
END
