#!/bin/sh
# Impossible requests are refused in one line, before anything is measured or overwritten.
. "$(dirname "$0")/../lib.sh"

"$rubato" calibrate --help >help.txt
grep -q -- --quick help.txt || fail "--help without mpirun: $(cat help.txt)"

expect_failure 1 "needs at least 2 ranks" "$rubato" calibrate -o a.toml
expect_failure 1 "needs at least 2 ranks" run 1 "$rubato" calibrate -o a.toml
[ ! -e a.toml ] || fail "a.toml was written"
expect_failure 2 "did you mean '--quick'" "$rubato" calibrate -o a.toml --quik
expect_failure 2 "did you mean '--quick'" run 2 "$rubato" calibrate -o a.toml --quik
[ "$(grep -c 'did you mean' out.txt)" = 1 ] || fail "each rank complains: $(cat out.txt)"
expect_failure 2 "-o FILE is missing" "$rubato" calibrate
# Of several ranks one says what is wrong with the plan.
plan 'launches = "auto"' 'max_sise = "1KiB"'
expect_failure 1 "plan.toml:2: a plan has no key 'max_sise' (did you mean 'max_size'" \
  run 2 "$rubato" calibrate -o a.toml --plan plan.toml
[ "$(grep -c 'did you mean' out.txt)" = 1 ] || fail "each rank complains: $(cat out.txt)"
plan 'max_size = "12B"'
expect_failure 1 "plan.toml:1: max_size: must lie between" "$rubato" calibrate -o a.toml --plan plan.toml
expect_failure 2 "--seconds: from 1 to a million, not 0" "$rubato" calibrate -o a.toml --seconds 0
plan 'max_size = "4Mb"'
expect_failure 1 "plan.toml:1: max_size: " "$rubato" calibrate -o a.toml --plan plan.toml
expect_failure 1 "no.toml: cannot be read as a plan" "$rubato" calibrate -o a.toml --plan no.toml
expect_failure 1 "plan.toml is an input file" "$rubato" calibrate -o plan.toml --plan ./plan.toml --force
grep -q 4Mb plan.toml || fail "the plan was overwritten"
# A requested level must exist.
expect_failure 1 "--levels network: all 2 ranks are on one node (" \
  run 2 "$rubato" calibrate -o a.toml --levels node,network
[ "$(grep -c 'rubato: ' out.txt)" = 1 ] || fail "more than one line: $(cat out.txt)"
expect_failure 2 "--levels: 'nod' is none of self, socket, node, network (did you mean 'node'" \
  "$rubato" calibrate -o a.toml --levels nod,network
expect_failure 2 "--levels: '' is none of" "$rubato" calibrate -o a.toml --levels node,
[ -z "$(ls a.* ./*.partial 2>/dev/null)" ] || fail "left behind: $(ls -A)"

echo precious >b.csv
expect_failure 1 "b.csv exists" run 2 "$rubato" calibrate -o b.toml --quick
[ "$(cat b.csv)" = precious ] || fail "b.csv was overwritten"
[ ! -e b.toml ] || fail "b.toml was written"
expect_failure 1 "b.csv exists" run 2 "$rubato" calibrate -o a.toml --raw b.csv --quick
expect_failure 2 "two outputs cannot be written to the same file" "$rubato" calibrate -o a.toml --raw a.csv
plan 'lengths = "./b.csv"'
expect_failure 1 "b.csv is an input file; choose another name" \
  "$rubato" calibrate -o a.toml --raw b.csv --plan plan.toml --force
[ "$(cat b.csv)" = precious ] || fail "b.csv was overwritten"
plan 'patterns = "partners_nonblocking"' 'partners = "pairs.txt"'
echo "0 5" >pairs.txt
expect_failure 1 "pairs.txt:1: there is no rank 5 of 2; start calibrate with as many ranks as" \
  run 2 "$rubato" calibrate -o a.toml --plan plan.toml
plan 'patterns = "rign"'
expect_failure 1 "there is no pattern 'rign' (did you mean 'ring'" "$rubato" calibrate -o a.toml --plan plan.toml
expect_failure 1 "nowhere/page.html cannot be written: No such file or directory" \
  run 2 "$rubato" calibrate -o a.toml --quick --html nowhere/page.html
expect_failure 1 "No such file or directory" run 2 "$rubato" calibrate -o nowhere/c.toml --quick
[ -z "$(ls ./*.partial 2>/dev/null)" ] || fail "partial files remain"

echo precious >c.toml
expect_failure 1 "c.toml exists" run 2 "$rubato" calibrate -o c.toml --quick
[ "$(cat c.toml)" = precious ] || fail "c.toml was overwritten"
mkdir page.html
expect_failure 1 "page.html cannot be written: it is a directory" \
  run 2 "$rubato" calibrate -o a.toml --quick --html page.html

# The fit is killed: it is said, and the samples are whole.
preload_into_fit 'raise(SIGKILL);'
plan 'max_size = "4KiB"' 'patterns = "none"' 'collectives = "none"'
expect_failure 1 "e.toml was not made of e.csv: ended by signal 9; 'rubato fit e.csv" \
  env "LD_PRELOAD=$work/into_fit.so" "mpirun.$flavour" -n 2 "$rubato" calibrate -o e.toml --quick --seconds 2 \
  --plan plan.toml
grep -q '^node,pingpong,' e.csv || fail "no samples: $(ls)"
[ ! -e e.csv.partial ] || fail "the samples have no name of their own"
expect_failure 1 "not made of my e.csv: ended by signal 9; 'rubato fit 'my e.csv'" \
  env "LD_PRELOAD=$work/into_fit.so" "mpirun.$flavour" -n 2 "$rubato" calibrate -o "my e.toml" --quick --seconds 2 \
  --plan plan.toml
run 2 "$rubato" calibrate -o f.toml --quick --seconds 2 --plan plan.toml --samples-only >out.txt || fail "$(cat out.txt)"
grep -q '^f.csv: samples$' out.txt || fail "nothing is said: $(cat out.txt)"
expect_failure 2 "leaves --html to 'rubato fit'" "$rubato" calibrate -o g.toml --samples-only --html g.html
expect_failure 2 "leaves --all to 'rubato fit'" "$rubato" calibrate -o g.toml --samples-only --all
[ -e f.csv ] && [ ! -e f.toml ] || fail "--samples-only left $(ls f.*)"

# A full disk: one line, exit 1, nothing that looks whole. Needs a file system of its own.
mkdir full
if mount -t tmpfs -o size=4k none full 2>/dev/null; then
  trap 'umount "$work/full"; rm -rf "$work"' EXIT
  expect_failure 1 "No space left on device" \
    run 2 "$rubato" calibrate -o full/d.toml --quick --seconds 3 --plan plan.toml
  # Messages of a rank to itself may have fit into memory.
  left=$(ls full)
  [ -z "$left" ] || { [ "$left" = d.csv.partial ] && grep -q 'took before that is in full/d.csv.partial' out.txt; } ||
    fail "left behind: $left"
fi
