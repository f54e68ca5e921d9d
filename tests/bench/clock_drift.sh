#!/bin/sh
# How true the corrected times of an archive are when clocks drift, steadily and with a bend of 5 ppm half-way,
# without and with --sync-every: a table for each MPI and for 2 and 4 ranks. Errors in microseconds. The last three
# columns are the replay's own count of calls that end before what they waited for, by corrected times and after
# its logical clock, and by how much that moved calls at most.
#
#   tests/bench/clock_drift.sh BUILD_DIR [SECONDS [COMMAND]]
#
# COMMAND is put before each rank's, such as "chrt -r 1" on a machine that is busy. 60 s, a minute each, are what
# share/doc/tracing.md states.
set -eu
rubato=$(cd "$1" && pwd)/bin/rubato
seconds=${2:-60}
before_ranks=${3-}
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
. "$here/../fixture/skewed.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

row() { printf '%-8s %5s %-6s %6s %7s %10s %9s %9s %9s %7s %9s %9s %9s %9s %9s %9s\n' "$@"; }
row MPI ranks drift every epochs deviation 50% 95% max noise messages early-raw early replayed repaired shift
for flavour in openmpi mpich; do
  command -v "mpicc.$flavour" >/dev/null || continue
  build_skewed "$flavour"
  for ranks in 2 4; do
    for variant in "steady 0 0" "bent 5000 0" "bent 5000 2"; do
      # shellcheck disable=SC2086
      set -- $variant
      # The line of names and numbers as numbers: epochs deviation before p50 p95 max noise messages early raw, early.
      numbers=$(run_skewed "$flavour" "$ranks" "$seconds" "$2" "--sync-every $3" |
        awk '{ for (i = 1; i <= NF; ++i) if ($i ~ /^[0-9.]+$/) print $i }')
      # shellcheck disable=SC2086
      echo "$flavour $ranks $1 $3" $numbers | while read -r mpi n drift every epochs deviation _ p50 p95 max noise messages raw early replayed repaired shift; do
        row "$mpi" "$n" "$drift" "$every" "$epochs" "$deviation" "$p50" "$p95" "$max" "$noise" "$messages" "$raw" \
          "$early" "$replayed" "$repaired" "$shift"
      done
    done
  done
done
