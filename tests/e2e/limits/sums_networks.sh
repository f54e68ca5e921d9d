#!/bin/sh
# `rubato profile SUMS --on SCENARIO`, of a run without an archive. On a network with a latency of 1 s the elapsed time is
# that of the messages that follow one another, whatever the computation takes: a replay of an archive of the same program
# and one of the steps in the file of sums agree, though they are of two runs. 0.1 % of it exceeds what the runs differ by.
. "$(dirname "$0")/../lib.sh"
cp "$here/sums.c" app.c
build_program app
cat >check.py <<'P'
import json, sys
of_archive, of_sums = ({entry[key]: entry["elapsed"] for entry in json.load(open(name))[part]}
                       for name, part, key in (("archive.json", "scenarios", "name"), ("sums.json", "networks", "scenario")))
one_of = json.load(open(sys.argv[1]))["steps_one_of"]
assert (one_of > 1) == (sys.argv[2] == "some"), one_of
for name in ("bandela:latency=1s,bandwidth=1MB/s", "ethernet-1g:ppn=1,latency*100000"):
    archive, sums = of_archive[name], of_sums[name]
    assert archive > 100 and abs(sums / archive - 1) < 0.001, (name, archive, sums)
P
on="--on bandela:latency=1s,bandwidth=1MB/s --on ethernet-1g:ppn=1,latency*100000"
# judge RANKS all|some ARGUMENTS...: the file has all steps, or some.
judge() {
  ranks=$1 which=$2
  shift 2
  rm -rf run.otf2dir "$which"
  trace "$ranks" ./app "$@" 2>err.txt || fail "$(cat err.txt)"
  run "$ranks" "$rubato" trace --no-archive --report "$which" ./app "$@" 2>err.txt || fail "$(cat err.txt)"
  # shellcheck disable=SC2086
  "$rubato" replay run.otf2dir $on --json archive.json >/dev/null 2>err.txt || fail "$(cat err.txt)"
  # shellcheck disable=SC2086
  "$rubato" profile "$which" $on --json sums.json --csv sums.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
  $python check.py "$which" "$which" >check.txt 2>&1 || fail "$(tail -1 check.txt)"
}
judge 4 all 10 replayed
grep -q '^Other networks, by a replay of all steps between collectives of all ranks$' out.txt || fail "$(cat out.txt)"
grep -q '^"\{0,1\}bandela:latency=1s,bandwidth=1MB/s"\{0,1\},elapsed,' sums.csv || fail "$(cat sums.csv)"
# Without --on: a perfect interconnect.
"$rubato" profile all | grep -q '^perfect  *[0-9]' || fail "$("$rubato" profile all)"
judge 2 all 300 steps
# More steps than are kept: 2^18 words of a rank are 37,449 of its calls of 7 words.
judge 2 some 40000 steps
grep -q '^Other networks, estimated from [0-9,]* steps between collectives of all ranks, one of [248]' out.txt ||
  fail "$(cat out.txt)"
sed 's/steps_one_of": [0-9]*/steps_one_of": 2/; s/step [0-9]/stop 1/g' some >damaged
expect_failure 1 "the sums cannot be read: rank 0, line" "$rubato" profile damaged
pass
