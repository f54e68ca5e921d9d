#!/usr/bin/env bash
# How far independent calibrations agree: agreement.sh FLAVOUR BUILD_DIR [shm|tcp] [options of rubato calibrate]
# Not a test: run it by hand, on a machine that has nothing else to do.
#
# Calibrates repeatedly (--quick unless options are given), at most twelve times, until three calibrations agree within
# 10 % for 8 B: some machines change from launch to launch (messages may take three times as long when two virtual
# processors have a core each as when they share one). If these are not the first three, the first three are reported,
# too. LAUNCHES=N (environment): calibrations of N launches each, represented by their median; TIME=median: the median of
# the loops, too. Prints for each pair of
# the three the difference of the one-way time (o_s + T + o_r) at powers of two from 1 B to 1 MiB: the median over
# sizes, and the number of sizes at which it is within twice the combined stated standard errors.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/path.sh
. "$here/path.sh" "$@"
((${#options[@]})) || options=(--quick)

# The numbers of three calibrations that agree for 8 B, if there are any.
alike() {
  awk '{ ns[NR] = $1 }
       END {
         for (i = 1; i <= NR; ++i) {
           found = ""
           for (k = i; k <= NR && split(found, all) < 3; ++k)
             if (ns[k] < 1.1 * ns[i] && ns[k] > ns[i] / 1.1) found = found " " k
           if (split(found, all) == 3) { print found; exit }
         }
       }' eight.txt
}
time=${TIME:-min}
column=seconds_$time
printf '%s\n' "time = \"$time\"" 'patterns = "none"' 'collectives = "none"' 'max_size = "1MiB"' >plan.toml
((${LAUNCHES:-1} == 1)) || echo "launches = $LAUNCHES" >>plan.toml
chosen=""
for k in $(seq 12); do
  calibrate=("$build/bin/rubato" calibrate --plan plan.toml "${options[@]}" -o "$k.toml")
  if ((${LAUNCHES:-1} == 1)); then
    quiet "$k.txt" "${launch[@]}" "${calibrate[@]}"
  else
    quiet "$k.txt" "${calibrate[@]}" -- "${launch[@]}"
  fi
  # In the statistic of the curves: unlike the minimum, the median shows slow moments.
  awk -F, -v column="$column" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
      $2 == "pingpong" && $3 == 8 { print $at * 1e9 }' "$k.csv" | sort -n |
    awk '{ ns[NR] = $1 } END { printf "%.0f\n", ns[int((NR + 1) / 2)] }' >>eight.txt
  chosen=$(alike)
  [[ -z $chosen ]] || break
done
echo "$flavour $path: 8 B take $(paste -sd' ' eight.txt) ns; compared:${chosen:- none}"

# compare CALIBRATION...: by their numbers.
compare() {
  PYTHONPATH=$here/../fixture /usr/bin/python3 compare.py "$@"
}
cat >compare.py <<'END'
import itertools
import statistics
import sys

from platform_curve import load, one_way, uncertainty

SIZES = [1 << k for k in range(21)]
files = [load(f"{k}.toml") for k in sys.argv[1:]]
name = "node" if "node" in files[0]["level"] else "network"
for file in files:
    print(f"  {file['name']} states {file['measured'][name + '_one_way_uncertainty']}")
within = []
for a, b in itertools.combinations(files, 2):
    differences = []
    for size in SIZES:
        times = [one_way(f["level"][name], size) for f in (a, b)]
        errors = [t * uncertainty(f, name, size) for t, f in zip(times, (a, b))]
        differences.append(abs(times[0] - times[1]) / min(times))
        within.append(abs(times[0] - times[1]) <= 2 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5)
    print(f"  {a['name']} and {b['name']}: median difference {100 * statistics.median(differences):.1f} %, "
          f"worst {100 * max(differences):.1f} %")
print(f"  within stated uncertainty: {sum(within)} of {len(within)} ({100 * sum(within) / len(within):.0f} %)")
END
# shellcheck disable=SC2086
[[ -z $chosen ]] || compare $chosen
if [[ $chosen != " 1 2 3" ]]; then
  echo "the first three, whatever the machine did:"
  compare 1 2 3
fi
[[ -n $chosen ]]
