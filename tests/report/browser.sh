#!/usr/bin/env bash
# The HTML report draws itself in a browser without a word on its console: browser.sh REPORT_DEMO RUBATO
set -euo pipefail
demo=$1
rubato=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "skipped: there is no chromium"
  exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# page NAME: what the browser makes of it, in $dir/page.html; not a word on the console.
page() {
  # --dump-dom prints the page after its scripts have run.
  timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
    --disable-background-networking --disable-component-update --disable-sync --no-first-run \
    --disable-quic --enable-logging=stderr --virtual-time-budget=5000 --dump-dom \
    "file://$dir/$1" >"$dir/page.html" 2>"$dir/log" </dev/null || {
    cat "$dir/log"
    echo "the browser failed"
    exit 1
  }
  if grep 'CONSOLE' "$dir/log"; then
    echo "$1: the page complains"
    exit 1
  fi
}

# all_drawn WHAT: Chart.js gives a canvas its size when it has drawn it: scenarios, ranks, curve,
# residuals, sweep, and two histograms of sizes.
all_drawn() {
  local drawn
  drawn=$(grep -o '<canvas[^>]*display: block' "$dir/page.html" | wc -l)
  if ((drawn != ${2-7})); then
    echo "$1: $drawn of ${2-7} charts are drawn"
    exit 1
  fi
}

for ranks in 1 2 1500; do
  "$demo" "$ranks" "$dir" troubled >/dev/null
  page report.html
  # Written by the script at its end: all five scenarios, and the platform section after them.
  verdict="On a perfect interconnect"
  [ $ranks != 1 ] || verdict="One rank"   # no network changes it
  for text in "$verdict" "huge-rendezvous.toml" "Late sender" "Level node" \
    "assemble (matrix.c:<wbr>41)" "Latency matters above 5.5 ×" "Messages by size of message"; do
    grep -q "$text" "$dir/page.html" || {
      echo "$ranks ranks: the page lacks '$text'"
      exit 1
    }
  done
  all_drawn "$ranks ranks"
  # Two timelines are drawn (a canvas of 300 x 150 has not been), and the page stays below 5 MB.
  timelines=$(grep -o '<canvas role="img" aria-label="Timeline of[^>]*>' "$dir/page.html" | grep -vc 'width="300"' || true)
  if ((timelines != 2 || $(stat -c %s "$dir/report.html") > 5000000)); then
    echo "$ranks ranks: $timelines timelines in $(stat -c %s "$dir/report.html") bytes"
    exit 1
  fi
done

# A page of a real replay: every canvas that is drawn shows something, not one colour all over. Rank 0 computes for 900
# of 2000 ns, and waits for rank 1 for 990. Ten platforms: with measured and perfect, four have no timeline.
cat >"$dir/run.txt" <<'END'
0: 0..10 init
0: 910..1910 recv 1 8B
0: 2000..2010 finalize
1: 0..10 init
1: 1900..1910 send 0 8B
1: 2000..2010 finalize
END
scenarios=()
for factor in 1 2 3 4 5 6 7 8 9 10; do scenarios+=(--on "bandela:latency=1us,latency*$factor,name=net$factor"); done
"$rubato" replay "$dir/run.txt" "${scenarios[@]}" --html "$dir/real.html" >/dev/null
# Canvases with as many colours as they have, once all is drawn.
colours='setTimeout(() => document.querySelectorAll("canvas").forEach((canvas) => { const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height); canvas.setAttribute("data-colours", new Set(new Uint32Array(data.buffer)).size); }), 2000);'
sed "s|^  drawPlatforms();\$|& $colours|" "$dir/real.html" >"$dir/colours.html"
page colours.html
mapfile -t counts < <(grep -o 'data-colours="[0-9]*"' "$dir/page.html" | tr -dc '0-9\n')
# Bars of scenarios and of ranks, two timelines, efficiencies over time, a matrix, and two histograms.
blank=0
for count in "${counts[@]}"; do ((count > 3)) || blank=1; done
if ((${#counts[@]} != 8 || blank)); then
  echo "a real page: ${#counts[@]} canvases of ${counts[*]} colours"
  exit 1
fi
grep -q 'Not drawn, because a page has at most 8 timelines: net7, net8, net9, net10\.' "$dir/page.html" || {
  echo "a real page: it does not say which timelines are missing"
  exit 1
}
# Three ranks send 1 MB each to rank 0, whose link all share: it is busy, and is drawn as a line over time.
{
  echo "nodes 0 1 2 3"
  echo "0: 0..10 init"
  for rank in 1 2 3; do
    echo "$rank: 0..10 init"
    echo "$rank: 20..30 send 0 1000000B"
    echo "$rank: 2000..2010 finalize"
    echo "0: ${rank}00..${rank}10 recv $rank 1000000B"
  done
  echo "0: 2000..2010 finalize"
} >"$dir/incast.txt"
"$rubato" replay "$dir/incast.txt" --on "bandela:bandwidth=1GB/s,network=crossbar,contention.link_bandwidth=1GB/s,name=one switch" \
  --html "$dir/links.html" >"$dir/links.log"
grep -q 'Busiest links on one switch: node 0 in [0-9]* % busy' "$dir/links.log" || {
  cat "$dir/links.log"
  exit 1
}
page links.html
# 3 sends and the 8 messages of the barrier in MPI_Finalize, two rounds of four.
for text in "Links of the network" "node 0 in" "[0-9]* of 11 messages on links were slowed down" \
  "utilisation of links over time on one switch"; do
  grep -q "$text" "$dir/page.html" || {
    echo "a page with a network lacks '$text'"
    exit 1
  }
done
# Two numbers of a machine are a map, which Chart.js has no part in.
page map.html
for text in "Bandwidth matters below 0.111 ×" "the ring marks the unchanged scenario" "Heat map of cluster.toml"; do
  grep -q "$text" "$dir/page.html" || {
    echo "the map lacks '$text'"
    exit 1
  }
done
all_drawn "map" 6

# The reader selects bars by wait state.
choice='byId("divide-by").value = "wait"; byId("divide-by").dispatchEvent(new Event("change"));'
sed "s|^  drawPlatforms();\$|& $choice|" "$dir/report.html" >"$dir/waits.html"
page waits.html
grep -q '</i>MPI without waiting</li>' "$dir/page.html" || {
  echo "the bars do not say what is waited for"
  exit 1
}
all_drawn "by what is waited for"

# The calibration: a pair of charts, curve and residuals, for each of six curves of the level, and for each of nine calls
# (seven patterns of messages, two collectives).
page calibration.html
for text in "Level node" "Made-up MPI 1.0" "Goodness of fit" "allreduce" "log(p)" \
  "Gap" "Crossing delay" "Send overhead" "Receive overhead" "unexpected messages"; do
  grep -q "$text" "$dir/page.html" || {
    echo "the calibration lacks '$text'"
    exit 1
  }
done
drawn=$(grep -o '<canvas[^>]*display: block' "$dir/page.html" | wc -l)
if ((drawn != 30)); then
  echo "calibration: $drawn of 30 charts are drawn"
  exit 1
fi
