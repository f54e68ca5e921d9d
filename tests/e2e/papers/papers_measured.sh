#!/bin/sh
# share/papers/mpptest and howell: what needs no calibration comes out of short runs, and their statistics are
# those of a textbook.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$tests/.." && pwd)
export RUBATO="$rubato" MPICC="mpicc.$flavour" MPIRUN="mpirun.$flavour"

"$python" "$here/papers_statistics.py" "$root/share/papers" || fail "statistics: see above"

mkdir there
for paper in mpptest howell; do
  expect_failure 1 "$paper: there exists" "$root/share/papers/$paper" there
  expect_failure 1 "there is no figure '77'" "$root/share/papers/$paper" -f 77
done

# drawn OUTPUT FIGURE...: each is on the page.
drawn() {
  output=$1
  shift
  for figure; do
    grep -q "<section id=\"$figure\">" "$output/index.html" || fail "$output: no $figure"
  done
  for picture in "$output"/*.svg; do
    [ ! -e "$picture" ] || "$python" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture" ||
      fail "$picture is no picture"
  done
}

# The time of other programs: of 1000 ticks of each of two processors, programs had 400 more, 200 of these the script's own:
# 20 % of one processor. With 50 more and none of its own, 5 %. The script's own children count as its own.
cat >watch.sh <<'SH'
set -euo pipefail
paper=watch
. "$1/share/papers/experiment.sh"
read -r _ before _ < <(processor_ticks)
timeout 1 sh -c 'while :; do :; done' || true
read -r _ after _ < <(processor_ticks)
((after - before >= 10)) || echo "children: $before, $after"
processors() { echo 2; }
ticks_before=(1000 100 10000)
processor_ticks() { echo 1400 300 12000; }
watch_others
echo "$quiet"
processor_ticks() { echo 1050 100 12000; }
watch_others
echo "$quiet"
SH
bash watch.sh "$root" >watch.txt 2>warned.txt || fail "watch: $(cat watch.txt warned.txt)"
printf '%s\n' 'other programs took 20 % of one processor: too busy for these claims' 'other programs took 5 % of one processor' |
  cmp -s - watch.txt || fail "watch: $(cat watch.txt)"
[ "$(wc -l <warned.txt)" = 1 ] || fail "watch: $(cat warned.txt)"
"$root/share/papers/mpptest" -n 2 -f o,m mpptest >mpptest.txt 2>&1 || fail "$(cat mpptest.txt)"
drawn mpptest experimento experimentm
# Each distance of a butterfly is measured, also with a number of ranks that is no power of two.
for ranks in 3 4; do
  run "$ranks" mpptest/pitfalls butterfly 8 >butterfly.txt 2>&1 || fail "butterfly: $(cat butterfly.txt)"
  [ "$(awk '$1 == "butterfly" && $2 == 8 && $4 > 0 && $5 > 0 { printf "%s ", $3 }' butterfly.txt)" = "1 2 " ] ||
    fail "butterfly of $ranks ranks: $(cat butterfly.txt)"
done
"$root/share/papers/howell" -f t2,t3 howell >howell.txt 2>&1 || fail "$(cat howell.txt)"
drawn howell table2 table3
# Threads in a ring, also more than two, and lines of another size.
howell/memory 1048576 128 3 >memory.txt || fail "memory: $(cat memory.txt)"
[ "$(awk '$1 == "threads" { print $2 }; /^shared (all lock|sem_turns|cond_turns)/ { print ($NF > 0) }' memory.txt | tr '\n' ' ')" = "3 1 1 1 " ] ||
  fail "memory: $(cat memory.txt)"
expect_failure 1 "a line of a power of two from 8 to 4096 bytes" howell/memory 1048576 96
pass
