#!/bin/sh
# The stress run checks every bit: all is right, and a bit that is turned on purpose is found.
. "$(dirname "$0")/lib.sh"

run 3 "$rubato" calibrate --stress 1 --max-size 100kB >out.txt || fail "damage: $(cat out.txt)"
grep -Eq '^[1-9][0-9]* bytes in [1-9][0-9]* messages among 3 ranks were checked' out.txt || fail "$(cat out.txt)"
grep -q '^none was wrong' out.txt || fail "$(cat out.txt)"

export RUBATO_STRESS_FLIP=20
expect_failure 1 "to rank 1, the first wrong bit is bit 2 of byte" \
  run 2 "$rubato" calibrate --stress 5 --max-size 64KiB
unset RUBATO_STRESS_FLIP
# What it would pass over is refused, by name.
expect_failure 2 "--stress: seconds greater than 0, not -1" "$rubato" calibrate --stress -1
expect_failure 2 "has no use for -o; it takes --max-size, --seed and --mpi" "$rubato" calibrate --stress 1 -o a.toml
expect_failure 2 "has no use for --launches, --levels, --patterns, --quick, a launcher behind '--'; it" \
  "$rubato" calibrate --stress 1 --seed 2 --quick --patterns ring --levels node --launches 2 -- true
expect_failure 2 "there is no pattern 'rign' (did you mean 'ring'" "$rubato" calibrate -o a.toml --patterns rign
[ ! -e a.toml ] || fail "a.toml was written"
