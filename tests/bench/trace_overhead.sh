#!/bin/sh
# Nanoseconds that tracing adds per MPI call, beside the untraced time, for each MPI; what the archive
# says about itself; bytes per call in memory and on disk.
#
#   tests/bench/trace_overhead.sh BUILD_DIR
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")" && pwd)/trace_overhead.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for flavour in openmpi mpich; do
  command -v mpicc.$flavour >/dev/null || continue
  mpicc.$flavour -O2 -w -o bench.$flavour "$source"
  # Best of three launches each, alternating, so that a noisy moment hits both.
  for _ in 1 2 3; do
    timeout 60 mpirun.$flavour -n 1 ./bench.$flavour >>plain.$flavour
    rm -rf run.otf2dir
    timeout 60 mpirun.$flavour -n 1 "$build/bin/rubato" trace -o run.otf2dir ./bench.$flavour >>traced.$flavour
  done
  echo "$flavour"
  printf '  %-22s %12s %12s %16s\n' call 'untraced ns' 'traced ns' 'added per call'
  awk 'FNR == NR { if (!($1 in a) || $3 < a[$1]) a[$1] = $3; next }
       { if (!($1 in b)) { order[++n] = $1; b[$1] = $3; calls[$1] = $2 } if ($3 < b[$1]) b[$1] = $3 }
       END { for (i = 1; i <= n; ++i) { k = order[i]
               printf "  %-22s %12.1f %12.1f %13.1f ns\n", k, a[k] / calls[k], b[k] / calls[k], (b[k] - a[k]) / calls[k] } }' \
    plain.$flavour traced.$flavour
  otf2-print -A run.otf2dir/traces.otf2 | awk '/RUBATO::OVERHEAD/ { name = $3; getline
      printf "  %-34s %.1f ns\n", name, $3 * 1e9 }'
  bytes=$(stat -c %s run.otf2dir/traces/0.evt)
  events=$(otf2-print -G run.otf2dir/traces.otf2 | sed -n 's/.*# Events: \([0-9]*\).*/\1/p')
  echo "  OTF2: $((bytes * 10 / events)) tenths of a byte per record"
done
