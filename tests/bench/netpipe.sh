#!/usr/bin/env bash
# Beside NetPIPE on the same path: netpipe.sh FLAVOUR BUILD_DIR [shm|tcp]. Not a test: run it by hand, on a
# machine that has nothing else to do.
#
# Three rounds of NetPIPE and of rubato calibrate, one after the other; then, for each length of NetPIPE from
# 1 B to 1 MiB, the platform file's T(n) over NetPIPE's half round trip, as the median of the rounds. What
# NetPIPE prints is read by `rubato import`. It prints the median over the lengths, and the lengths that are
# more than 10 % off.
set -euo pipefail
flavour=$1
build=$(cd "$2" && pwd)
path=${3:-shm}
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-netpipe.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

if [[ $flavour == openmpi ]]; then
  program=NPopenmpi
  launch=(mpirun.openmpi -n 2 --oversubscribe --bind-to core)
  [[ $path == tcp ]] && launch+=(--mca btl "tcp,self" --mca pml ob1)
else
  program=NPmpich2
  launch=(mpirun.mpich -n 2 -bind-to core)
  [[ $path == tcp ]] && launch+=(-genv MPIR_CVAR_NOLOCAL 1)
fi
command -v "$program" >/dev/null || {
  echo "there is no $program (packages netpipe-openmpi, netpipe-mpich2)"
  exit 1
}

for round in 1 2 3; do
  "${launch[@]}" "$program" -u 1048576 -o "np$round.out" >"np$round.txt" 2>&1
  "$build/bin/rubato" import "--level=node=np$round.txt" -o "np$round.toml" --csv "np$round.csv" >/dev/null
  "${launch[@]}" "$build/bin/rubato" calibrate --max-size 2MiB -o "cal$round.toml" >"cal$round.txt" 2>&1
done

python3 - <<'END'
import csv
import re
import statistics
import tomllib

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20,
         "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}


def quantity(text):
    if text == "inf":
        return float("inf")
    number, unit = re.fullmatch(r"(-?[0-9.e+-]*[0-9.])([A-Za-z/]+)", text).groups()
    return float(number) * UNITS[unit]


ratios = {}
for launch in (1, 2, 3):
    with open(f"cal{launch}.toml", "rb") as file:
        level = tomllib.load(file)["level"]
    segments = (level.get("node") or level["network"])["transfer"]
    with open(f"np{launch}.csv") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            size = float(row["bytes"])
            if not 1 <= size <= 1 << 20:
                continue
            segment = [s for s in segments if quantity(s["from"]) <= size][-1]
            ours = quantity(segment["latency"]) + size / quantity(segment["bandwidth"])
            ratios.setdefault(size, []).append(ours / float(row["seconds_min"]))
middle = {size: statistics.median(values) for size, values in sorted(ratios.items())}
off = [abs(value - 1) for value in middle.values()]
print(f"{len(middle)} lengths: median {100 * (statistics.median(middle.values()) - 1):+.1f} %, "
      f"median of the amounts {100 * statistics.median(off):.1f} %, "
      f"{sum(o <= 0.05 for o in off)} within 5 %")
for size, value in middle.items():
    if abs(value - 1) > 0.1:
        print(f"  {size:9.0f} B  {100 * (value - 1):+6.1f} %")
END
