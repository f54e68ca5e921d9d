#!/bin/sh
# The curve of a calibrated platform file meets the samples beside it. That depends on what else runs on the machine,
# so it is tried up to four times.
. "$(dirname "$0")/../lib.sh"

export PYTHONPATH=$tests/fixture
cat >numbers.py <<'END'
# How well the curve meets its samples. Returns 0 well, 1 not on a machine at rest, 3 not on a busy one.
import sys
from calibration_files import *

# The violated limits, with the excess.
off = []


def expect(excess, words):
    if not excess <= 1:
        off.append((excess, words))


# Shared memory or a network: 50 ns to 1 ms for nothing, 10 us to 1 s for 4 MiB, and it grows.
for n, low, high in (8, 50e-9, 1e-3), (4 << 20, 1e-5, 1):
    expect(max(low / times[n], times[n] / high), f"{n} B take {times[n]} s")
grow = 8, 8192, 1 << 20, 4 << 20
for less, more in zip(grow, grow[1:]):
    expect(times[less] / times[more], f"{less} B take {times[less]} s, {more} B {times[more]} s")
errors = sorted(abs(one_way(n) / t - 1) for n, t in times.items())
expect(errors[len(errors) // 2] / 0.05, f"half of the lengths are more than {errors[len(errors) // 2]:.3f} off")
for n in 8, 8192, 1 << 20:
    expect(abs(one_way(n) / times[n] - 1) / 0.10, f"{n} B: curve {one_way(n)} s, measured {times[n]} s")
# The processor's part is not the whole.
for n in 0, 1024, 1 << 20:
    for part in "send_overhead", "receive_overhead":
        expect(curve(level[part], n) / (times.get(n, one_way(n)) * 1.1), f"{part} of {n} B: {curve(level[part], n)} s")

for excess, words in off:
    print(f"{excess:.2f} times the limit: {words}")
if not off:
    sys.exit(0)
# Busy: at the median length the mean lies more than 20 % above the minimum.
unrest = sorted(float(r["seconds_avg"]) / float(r["seconds_min"]) for r in node)
sys.exit(3 if unrest[len(unrest) // 2] > 1.2 else 1)
END

busy=0
for _ in 1 2 3 4; do
  rm -f cluster.toml cluster.csv
  run 2 "$rubato" calibrate -o cluster.toml --quick >table.txt || fail "exit code: $(cat table.txt)"
  verdict=0
  "$python" numbers.py || verdict=$?
  [ $verdict != 0 ] || break
  [ $verdict != 3 ] || busy=$((busy + 1))
  echo "the curve does not meet its samples, trying again"
done
[ $verdict = 0 ] || fail "the curve never met its samples; the machine was busy in $busy of 4 tries"
pass
