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

"$root/share/papers/mpptest" -n 2 -f o,m mpptest >mpptest.txt 2>&1 || fail "$(cat mpptest.txt)"
drawn mpptest experimento experimentm
"$root/share/papers/howell" -f t2,t3 howell >howell.txt 2>&1 || fail "$(cat howell.txt)"
drawn howell table2 table3
pass
