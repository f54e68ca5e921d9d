#!/usr/bin/env bash
# share/examples/topologies: a table and a picture of a run on four networks.
#
#   topologies.sh RUBATO
set -euo pipefail
rubato=$1
examples=$(cd "$(dirname "$0")/../../share/examples" && pwd)
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Ranks 0 and 1 send 1 MB to rank 2 in the same moment. On links of 1 GB/s its link takes 2 ms for both, and its ports
# 1 ms for each; the network alone has 100 us in front of that, the same everywhere but for some links of 100 ns.
cat >run.txt <<'END'
0: 0..0 init
1: 0..0 init
2: 0..0 init
0: 0..0 send 2 1000000B
1: 0..0 send 2 1000000B
2: 0..0 recv 0 1000000B
2: 0..0 recv 1 1000000B
0: 0..0 finalize
1: 0..0 finalize
2: 0..0 finalize
END
cat >machine.toml <<'END'
format = 1
[level.network]
transfer = [ { from = "0B", latency = "100us", bandwidth = "1GB/s" } ]
gap = [ { from = "0B", latency = "0us", bandwidth = "1000GB/s" } ]
END
RUBATO=$rubato "$examples/topologies" run.txt machine.toml 1GB/s >table.txt
# Without shared links both arrive at 1.1 ms, with them at 2.1 ms: 1.909, and links of 100 ns are below 0.1 %. A node of
# the torus has no link of its own: nodes in a row send over the same one, nodes 0 and 341 reach node 682 from two sides.
bad=$(awk '
  function check(i, least, most) { if ($i < least || $i > most) print $1, $i }
  /^(fat-tree|torus|dragonfly)/ {
    check(2, 1.905, 1.913)
    if (/^torus/) check(3, 1, 1.005); else { check(3, 1.905, 1.913); check(4, 1.905, 1.913) }
    ++networks
  }
  END { if (networks != 4) print networks " networks" }' table.txt)
[[ -z $bad ]] || { echo "not 2.1 to 1.1 ms: $bad"; cat table.txt; exit 1; }
grep -q '<svg' topologies.svg || { echo "no picture"; exit 1; }
