#!/bin/sh
# Cost of tracing per MPI call, next to the untraced time, for each MPI library and for records in memory (/dev/shm) and
# on a disk: added nanoseconds (the minimum of averages, and the average), bytes per call in memory (of full blocks of
# each thread, one per stop) and per record in the archive, and the time for which the tracer stops a program for a new
# block of memory; then the overhead recorded in the archive. Finally a real program (LAMMPS, if installed): the minimum
# loop time of five launches on two ranks, alternately untraced, traced, and traced with call paths and samples.
#
# Places: shm is /dev/shm, disk is DISK_DIR, and "flush" is /dev/shm with --memory 1MiB, so that each further block of
# memory is preceded by moving one to the disk. Two threads make calls, and one of them is timed. Each case runs SERIES
# (200) times 1000 rounds.
#
#   tests/bench/trace_overhead.sh BUILD_DIR [DISK_DIR [SERIES]]
set -eu
build=$(cd "$1" && pwd)
disk=${2:-${TMPDIR:-/tmp}}
series=${3:-200}
source_root=$(cd "$(dirname "$0")/../.." && pwd)
source=$source_root/tests/bench/trace_overhead.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# rounds FILE: the least of each column over launches.
least() {
  awk '{ calls = $1; if (NR == 1 || $2 < best) best = $2; if (NR == 1 || $3 < mean) mean = $3 }
       END { print calls, best, mean }' "$1"
}

for flavour in openmpi mpich; do
  command -v mpicc.$flavour >/dev/null || continue
  mpicc.$flavour -O2 -w -pthread -o bench.$flavour "$source"
  echo "$flavour"
  printf '  %-20s %-8s %9s %9s %9s | %8s %9s | %8s %10s %10s\n' case records 'untraced' 'added' '(average)' \
    'B/call' 'B/record' 'stops' 'mean us' 'worst us'
  for case in comm_rank send_recv isend_irecv_waitall allreduce threads; do
    rm -f plain traced.*
    # Three launches each, alternating, so that a noisy moment hits all.
    for _ in 1 2 3; do
      timeout 60 mpirun.$flavour -n 1 ./bench.$flavour $case "$series" >>plain
      for place in shm disk flush; do
        directory=/dev/shm
        memory=256MiB
        case $place in disk) directory=$disk ;; flush) memory=1MiB ;; esac
        rm -rf run.otf2dir
        timeout 60 mpirun.$flavour -n 1 "$build/bin/rubato" trace --records "$directory" --memory $memory \
          -o run.otf2dir ./bench.$flavour $case "$series" >>traced.$place
        otf2-print run.otf2dir/traces.otf2 | awk -v rate="$(otf2-print -G run.otf2dir/traces.otf2 |
            sed -n 's/.*Ticks per Seconds: \([0-9]*\).*/\1/p')" '
          /^ENTER/ { ++calls[$2] } /^[A-Z]/ { ++records }
          /^BUFFER_FLUSH/ { number = calls[$2]; thread = $2; t = $3; sub(/.*Stop Time: /, ""); d = ($1 - t) / rate * 1e6
            if (d < 20) next  # queries the scheduler
            before[thread] = number; ++stops; sum += d; if (d > worst) worst = d }
          END { for (thread in before) full += before[thread]
            print full + 0, records, stops + 0, stops ? sum / stops : 0, worst + 0 }' \
          >stops.$place
        cat run.otf2dir/traces/*.evt | wc -c >bytes.$place
      done
    done
    for place in shm disk flush; do
      { least plain; least traced.$place; cat stops.$place bytes.$place; } | tr '\n' ' ' | awk -v case=$case -v place=$place '
        { calls = $1; printf "  %-20s %-8s %9.1f %9.1f %9.1f | %8.1f %9.1f | %8d %10.1f %10.1f\n", case, place, $2 / calls,
            ($5 - $2) / calls, ($6 - $3) / calls, $7 ? $9 * 262144 / $7 : 0, $12 / $8, $9, $10, $11 }'
    done
  done
  otf2-print -A run.otf2dir/traces.otf2 | awk '/RUBATO::OVERHEAD/ { name = $3; getline
      printf "  %-34s %.1f ns\n", name, $3 * 1e9 }'
done

command -v lmp >/dev/null || exit 0
cp "$source_root/share/examples/melt.in" .
# loop FILE [COMMAND...]: adds LAMMPS' loop time, started by COMMAND.
loop() {
  file=$1
  shift
  rm -rf run.otf2dir
  mpirun.openmpi -n 2 "$@" lmp -in melt.in -log none | awk '/^Loop time/ { print $4 }' >>"$file"
}
for _ in 1 2 3 4 5; do
  loop lmp.plain
  loop lmp.sampled "$build/bin/rubato" trace -o run.otf2dir --call-paths --sample 1ms
  loop lmp.traced "$build/bin/rubato" trace -o run.otf2dir
done
for file in lmp.plain lmp.traced lmp.sampled; do sort -n $file | head -1; done >best
otf2-print run.otf2dir/traces.otf2 | awk '/^ENTER/ { ++n } END { print n }' >>best
tr '\n' ' ' <best | awk '
  { printf "LAMMPS, 2 ranks: loop of %.3f s untraced, %.3f s traced (%+.2f %%), %.3f s with --call-paths --sample 1ms " \
      "(%+.2f %%), %d MPI calls\n", $1, $2, ($2 / $1 - 1) * 100, $3, ($3 / $1 - 1) * 100, $4 }'
