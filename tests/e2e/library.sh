#!/bin/sh
# A program built on the installed library: find_package(Rubato), a network model and a text trace of its own.
# library.sh PREFIX, where Rubato is installed; readme_install.sh calls it.
set -eu
prefix=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-library.XXXXXX")
trap 'if [ $? = 0 ]; then rm -rf "$work"; fi' EXIT
for example in network-model goal-input; do
  build=$work/build/$example
  cmake -S "$root/share/examples/$example" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
    >"$work/cmake.txt" 2>&1 || { tail -20 "$work/cmake.txt"; exit 1; }
  cmake --build "$build" >"$work/make.txt" 2>&1 || { tail -20 "$work/make.txt"; exit 1; }
done
cat >"$work/two.txt" <<'T'
# Two messages of 1 MB at once, each alone 1 us + 1 MB / (1 GB/s) = 1001 us. A backplane of 0.5 GB/s leaves each
# 0.25 GB/s: 1 us + 1 MB / (0.25 GB/s) = 4001 us.
nodes 0 1 2 3
0: 0..10 send 1 1MB
1: 0..10 recv 0 1MB
2: 0..10 send 3 1MB
3: 0..10 recv 2 1MB
T
"$work/build/network-model/backplane" "$work/two.txt" 0.5GB/s >"$work/out.txt"
grep -q ' 1001.000 us$' "$work/out.txt" && grep -q ' 4001.000 us$' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
# One-sided: a put has left its origin when its port is free, 1 ms later, unless it was slowed down before: two puts
# have half of the 1 GB/s each, and arrive 1 us + 1 MB / (0.5 GB/s) = 2001 us after their begin at 2 us (a lock takes a
# round trip). Over 2 GB/s neither is slowed down: 1002 us.
cat >"$work/put.txt" <<'T'
nodes 0 1 2 3
window 1
0: 0..0 win_lock 1
0: 0..0 put 1 1MB
0: 0..10 win_flush_local 1
1: 0..1 local MPI_Comm_rank
2: 0..0 win_lock 3
2: 0..0 put 3 1MB
2: 0..10 win_flush_local 3
3: 0..1 local MPI_Comm_rank
T
for speed in 1GB/s=2003 2GB/s=1002; do
  "$work/build/network-model/backplane" "$work/put.txt" "${speed%=*}" >"$work/out.txt"
  grep -q "backplane=.* ${speed#*=}.000 us$" "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
done
# On a ring of four nodes 0 and 3 are neighbours, 1 and 3 two hops apart: 2 us more for the second message.
cat >"$work/ring.txt" <<'T'
nodes 0 1 2 3
0: 0..10 recv 3 1MB
1: 0..10 send 3 1MB
2: 0..1 local MPI_Comm_rank
3: 0..1 isend 0 1MB req 1
3: 1..10 recv 1 1MB
3: 10..11 wait 1
T
"$work/build/network-model/ring" "$work/ring.txt" 2us >"$work/out.txt"
grep -q ' 1001.000 us$' "$work/out.txt" && grep -q ' 1003.000 us$' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
# Two messages of 1 MB from rank 0 at once. In the model bandela ports take no time: both arrive after 1 us + 1000 us.
# 250 packets of 4 kB and 1 us each add 250 us to the way and to the port, for which the second message waits:
# 250 + 1001 + 250 = 1501 us.
cat >"$work/packets.txt" <<'T'
nodes 0 1 2
0: 0..0 isend 1 1MB req 1
0: 0..0 isend 2 1MB req 2
0: 0..10 waitall 1 2
1: 0..10 recv 0 1MB
2: 0..10 recv 0 1MB
T
"$work/build/network-model/packets" "$work/packets.txt" 4kB 1us >"$work/out.txt"
grep -q ' 1001.000 us$' "$work/out.txt" && grep -q '^packets 1501.000 us$' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
# A GOAL schedule. 1000 bytes leave after 1000 ns of computation and take 1 us + 1000 B / (1 GB/s); rank 0 computes 500 ns
# meanwhile. Then rank 1 computes 300 ns and answers with 8 bytes: 1000 + 2000 + 300 + 1008 = 4308 ns.
cat >"$work/answer.goal" <<'T'
num_ranks 2
rank 0 { // asks
l1: calc 1000
l2: send 1000b to 1 tag 5
l2 requires l1
l3: calc 500
l3 irequires l2
l4: recv 8b from 1 tag 6
l4 requires l3
}
rank 1 {
l1: recv 1000b from 0 tag 5
l2: calc 300 cpu 0
l2 requires l1
l3: send 8b to 0 tag 6 nic 0
l3 requires l2
}
T
"$work/build/goal-input/goal" "$work/answer.goal" bandela:latency=1us,bandwidth=1GB/s >"$work/out.txt"
grep -q ' 4.308 us$' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
sed 's/to 1 tag/to 2 tag/' "$work/answer.goal" >"$work/bad.goal"
if "$work/build/goal-input/goal" "$work/bad.goal" perfect >"$work/out.txt" 2>&1; then cat "$work/out.txt"; exit 1; fi
grep -q 'bad.goal:4: there is no rank 2' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
# Exported and read again, two.txt takes the same: 1 us + 1 MB / (1 GB/s).
"$prefix/bin/rubato" export "$work/two.txt" --goal "$work/two.goal"
"$work/build/goal-input/goal" "$work/two.goal" bandela:latency=1us,bandwidth=1GB/s >"$work/out.txt"
grep -q ' 1001.000 us$' "$work/out.txt" || { cat "$work/out.txt"; exit 1; }
# The installed command finds its parts, and reads text, too.
"$prefix/bin/rubato" replay "$work/two.txt" --only --on bandela:latency=1us,bandwidth=1GB/s >"$work/replay.txt" 2>&1 ||
  { cat "$work/replay.txt"; exit 1; }
grep -q '^bandela:[^ ]* *1\.001 ' "$work/replay.txt" || { cat "$work/replay.txt"; exit 1; }
