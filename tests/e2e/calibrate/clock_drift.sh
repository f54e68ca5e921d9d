#!/bin/sh
# Clocks that start seconds apart and drift are synchronised, also if the drift changes and with --sync-every.
. "$(dirname "$0")/../lib.sh"
. "$tests/fixture/skewed.sh"
build_skewed "$flavour"

# number NAME LINE [N]: the (N-th) number behind NAME.
number() { echo "$2" | awk -v name="$1" -v n="${3:-1}" '{ for (i = 1; i < NF; ++i) if ($i == name) print $(i + n) }'; }
holds() { awk "BEGIN { exit !($1) }"; }

# Each measurement's truth is within 1.73 of its deviations; a microsecond more is allowed, and what bends.
check() {
  deviation=$(number deviation "$1") p95=$(number p95 "$1") noise=$(number noise "$1")
  holds "$(number before "$1") > 1000000" || fail "the clocks were not skewed: $1"
  holds "$p95 <= 1 + 2 * $deviation + $noise + $2" || fail "errors: $1"
}

# skewed_quietly EPOCHS ARGUMENTS...: sets $line. On busy cores a measurement may find no quiet moment; then it is
# repeated, and after three times $quiet is 0 and there is no result.
skewed_quietly() {
  epochs=$1
  shift
  for _ in 1 2 3; do
    line=$(run_skewed "$flavour" 2 "$@") || fail "exit code"
    echo "$* $line"
    quiet=$(awk "BEGIN { print ($(number deviation "$line") < 1 && $(number epochs "$line") >= $epochs) }")
    [ "$quiet" = 1 ] && return
  done
  echo "the machine is too busy to compare clocks"
}

# How often rank 1 compared clocks while the program ran: intervals of tracer time that contain the time of an offset.
# (Queries of the scheduler are tracer time, too.) Offsets have rank 1's own times; otf2-print shows corrected ones.
measurements() {
  { otf2-print -C "$1"/traces.otf2 && otf2-print "$1"/traces.otf2; } | tr -d ,+ | awk '
    $1 == "CLOCK_OFFSET" && $2 == 1 { time[++offsets] = $4 + $6 }
    $1 == "BUFFER_FLUSH" && $2 == 1 { for (i in time) if ($3 <= time[i] && time[i] <= $6) ++n }
    END { print n + 0 }'
}

echo "SECONDS BEND OPTIONS, what came out:"
skewed_quietly 2 3 0 ""
check "$line" 0
[ "$(number epochs "$line")" = 2 ] || fail "two measurements make two offsets: $line"
[ "$(measurements run.otf2dir)" = 0 ] || fail "tracer time without --sync-every: $(measurements run.otf2dir)"
if [ "$quiet" = 1 ]; then
  [ "$(number early "$line" 2)" = 0 ] || fail "received before sent: $line"
  check_archive
fi

# 50 ppm more after 3 of 6 s: missed by up to 75 us, and between two measurements T seconds apart by
# 50 us * T / 4. n measurements are 6 / (n - 1) s apart on average; the two around the bend may be twice that
# (150 us / (n - 1)), as intervals grow on a busy machine.
skewed_quietly 2 6 50000 ""
bent=$line both_quiet=$quiet
# The remaining error of the bend is repaired by the reader's logical clock, which moves nothing by more than the error
# of the clocks.
"$rubato" replay --verify run.otf2dir >verify.txt 2>&1 || fail "replay of repaired times: $(cat verify.txt)"
[ "$(number repaired "$bent" 2)" = 0 ] || fail "calls that end before what they waited for: $bent"
if [ "$quiet" = 1 ]; then
  holds "$(number repaired "$bent") > 100" || fail "the bend violates nothing: $bent"
  holds "$(number shift "$bent") <= 1 + $(number max "$bent") + $(number noise "$bent")" || fail "moved too far: $bent"
fi
skewed_quietly 5 6 50000 "--sync-every 1"
[ "$(measurements run.otf2dir)" = $(($(number epochs "$line") - 2)) ] || # the first and the last are in MPI_Init and MPI_Finalize
  fail "tracer time of --sync-every: $(measurements run.otf2dir)"
"$rubato" replay --verify run.otf2dir >verify.txt 2>&1 || fail "replay: $(cat verify.txt)"
if [ "$quiet" = 1 ] && [ "$both_quiet" = 1 ]; then
  check "$line" "150 / ($(number epochs "$line") - 1)"
  holds "$(number p50 "$bent") > 10 * $(number p50 "$line")" || fail "--sync-every brings too little"
fi

# The decision to synchronise is common where one rank records no more, and nothing happens on one clock.
export BENT_CLOCK="0 0 0"
run 2 "$rubato" trace -o full.otf2dir --memory 64KiB --clock-domain rank --sync-every 0.2 ./drifting 2 pairs \
  >out.txt 2>&1 || fail "full memory: $(cat out.txt)"
run 2 "$rubato" trace -o one.otf2dir --sync-every 0.1 ./drifting 1 pairs >out.txt 2>&1 || fail "one clock"
otf2-print -C one.otf2dir/traces.otf2 | grep -q 'Offset: [+-][1-9]' && fail "one clock has offsets"
expect_failure 2 'expected node or rank' "$rubato" trace --clock-domain core ./drifting
for seconds in -1 1e-7 nan inf; do
  expect_failure 2 'expected seconds' "$rubato" trace --sync-every "$seconds" ./drifting
done
pass
