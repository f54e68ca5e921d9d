#!/bin/sh
# The driver starts several launches, measures the same lengths in each, and combines them in one file; failed launches
# are left out, and finished ones are kept when it is stopped.
. "$(dirname "$0")/../lib.sh"

mpirun=mpirun.$flavour
plan 'launches = 2' 'max_size = "1KiB"' 'collectives = "bcast"' 'patterns = "ring"'
"$rubato" calibrate --plan plan.toml --all --quick --seconds 4 --raw two.raw.csv -o two.toml -- "$mpirun" -n 2 >table.txt ||
  fail "two launches: $(cat table.txt)"
[ -z "$(find . -name '*launches*')" ] || fail "the launches' own files remain: $(ls -A)"
grep -q "^launches = .2.$" two.toml || fail "[measured] does not tell: $(cat two.toml)"
grep -q '^node pingpong (.*Median  *Mean  *±  *1  *2$' table.txt || fail "no table: $(cat table.txt)"
[ "$(grep -c '^level,' two.csv)" = 2 ] || fail "not two launches in the samples"
/usr/bin/env python3 - <<'END'
import collections, csv
launches = collections.defaultdict(set)
for line in open("two.csv"):
    if line.startswith("level,"):
        header = next(csv.reader([line]))
    elif not line.startswith("#"):
        row = dict(zip(header, next(csv.reader([line]))))
        if row["seconds_min"]:
            launches[row["launch"]].add((row["level"], row["pattern"], row["bytes"]))
assert sorted(launches) == ["1", "2"], launches.keys()
assert len(launches["1"]) > 40
for launch in launches.values():
    assert launch == launches["1"], launch ^ launches["1"]
END
# The single observations are the ones from which the samples are computed.
"$python" - <<'END' || fail "single observations"
import collections, csv
observations = collections.defaultdict(list)
for row in csv.DictReader(open("two.raw.csv")):
    key = tuple(row[name] for name in ("launch", "level", "pattern", "processes", "bytes"))
    observations[key].append((float(row["seconds"]), float(row["at"]), int(row["round_trips"])))
checked = set()
for line in open("two.csv"):
    if line.startswith("level,"):
        header = next(csv.reader([line]))
    elif not line.startswith("#"):
        row = dict(zip(header, next(csv.reader([line]))))
        if not row["seconds_min"]:
            continue
        key = tuple(row[name] for name in ("launch", "level", "pattern", "processes", "bytes"))
        found = observations[key]
        assert len(found) == int(row["loops"]), (key, len(found), row["loops"])
        for name, of in ("seconds_min", min), ("seconds_max", max):
            assert abs(of(found)[0] - float(row[name])) <= 2e-5 * float(row[name]), (key, name)
        at = [one[1] for one in found]
        assert at == sorted(at) and 0 < at[0] and at[-1] < 60, (key, at)
        assert found[-1][2] == int(row["round_trips"]), key
        checked.add(key)
assert checked == set(observations), checked ^ set(observations)
assert {"pingpong", "ring", "bcast"} <= {key[2] for key in checked}
END
"$rubato" compare two.csv two.csv >compared.txt
! grep -q '^Left out' compared.txt || fail "launches have different lengths: $(cat compared.txt)"
"$rubato" fit two.csv -o again.toml --name two >/dev/null
for file in two again; do sed -E '/^fitted = /d' $file.toml >$file.txt; done
diff two.txt again.txt >difference.txt || fail "fit differs from calibrate: $(cat difference.txt)"
grep '^command = .rubato calibrate --plan plan.toml --all ' two.toml | grep -qF 'launches = 2' ||
  fail "[measured] does not tell the command: $(grep '^command' two.toml)"

# Patterns with adaptive lengths: as many as the curve needs (else seven), and the same ones in both launches.
plan 'launches = 2' 'patterns = "pingpong_nonblocking"' 'adaptive_patterns = true' 'collectives = "none"' 'max_size = "16KiB"'
"$rubato" calibrate --plan plan.toml --quick --seconds 3 --levels node -o adaptive.toml -- "$mpirun" -n 2 >adaptive.txt 2>&1 || fail "$(cat adaptive.txt)"
"$python" - <<'END' || fail "adaptive patterns in several launches"
import collections, csv
lengths = collections.defaultdict(set)
for line in open("adaptive.csv"):
    if line.startswith("level,"):
        header = next(csv.reader([line]))
    elif line.startswith("node,pingpong_nonblocking,"):
        row = dict(zip(header, next(csv.reader([line]))))
        lengths[row["launch"]].add(row["bytes"])
assert len(lengths) == 2 and len(lengths["1"]) > 12 and lengths["1"] == lengths["2"], lengths
END

# The second launch fails: the others count, and it is said.
cat >flaky.sh <<END
#!/bin/sh
echo x >>started
[ "\$(wc -l <started)" != 2 ] || { echo 'rubato: error: no more of that' >&2; exit 3; }
exec $mpirun -n 2 "\$@"
END
chmod +x flaky.sh
plan 'launches = 2' 'patterns = "none"' 'collectives = "none"' 'max_size = "1KiB"'
"$rubato" calibrate --plan plan.toml --quick --seconds 2 -o flaky.toml -- ./flaky.sh >table.txt 2>errors.txt ||
  fail "one failing launch: $(cat errors.txt)"
grep -q 'launch 2: ./flaky.sh exited with 3: no more of that; left out' errors.txt ||
  fail "nothing is said: $(cat errors.txt)"
grep -q "^launches = .1 of 2 that were asked for.$" flaky.toml || fail "[measured] does not tell"
[ "$(grep -c '^level,' flaky.csv)" = 1 ] || fail "not one launch in the samples"

# Told to stop in the second launch.
rm started
cat >stop.sh <<END
#!/bin/sh
echo x >>started
[ "\$(wc -l <started)" != 2 ] || { (sleep 1; kill -TERM "\$PPID") & }
exec $mpirun -n 2 "\$@"
END
chmod +x stop.sh
plan 'launches = 3' 'patterns = "none"' 'collectives = "none"' 'max_size = "1KiB"'
"$rubato" calibrate --plan plan.toml --quick --seconds 2 -o stopped.toml -- ./stop.sh >table.txt 2>errors.txt ||
  fail "told to stop: $(cat errors.txt)"
grep -q 'told to stop; the 1 that are done are kept' errors.txt || fail "nothing is said: $(cat errors.txt)"
grep -q "^launches = .1 of 3" stopped.toml || fail "[measured] does not tell"

# One line, and nothing is left behind.
one_line() {
  [ "$(wc -l <out.txt)" = 1 ] || fail "more than one line: $(cat out.txt)"
}
plan 'launches = 2'
expect_failure 1 "no-such-mpirun: no such program" "$rubato" calibrate --plan plan.toml -o a.toml -- no-such-mpirun
one_line
expect_failure 1 "launch 1: false exited with 1" "$rubato" calibrate --plan plan.toml -o a.toml -- false
one_line
expect_failure 1 "at least 2 ranks" "$rubato" calibrate --plan plan.toml -o a.toml -- "$mpirun" -n 1
one_line
expect_failure 1 "left no samples" "$rubato" calibrate --plan plan.toml -o a.toml -- true
expect_failure 1 "two.toml exists" "$rubato" calibrate --plan plan.toml -o two.toml -- false
expect_failure 2 "plan.toml: launches = 2 needs a launcher: rubato calibrate --plan plan.toml -o FILE -- mpirun" \
  "$rubato" calibrate --plan plan.toml -o a.toml
expect_failure 2 "exclude each other" "$rubato" calibrate --launch 2 -o a.toml -- "$mpirun" -n 2
expect_failure 2 "run it without mpirun" run 2 "$rubato" calibrate -o a.toml -- "$mpirun" -n 2
# Without a number: three, a quick run one. The second launch in a row that fails ends them.
cat >starts <<'END'
#!/bin/sh
echo start >>starts.txt
[ "$(wc -l <starts.txt)" -lt 2 ] && exec "$@"
exit 1
END
chmod +x starts
plan 'patterns = "none"' 'collectives = "none"' 'max_size = "1KiB"'
"$rubato" calibrate --seconds 2 --plan plan.toml -o three.toml -- ./starts "$mpirun" -n 2 >three.txt 2>&1 || fail "$(cat three.txt)"
[ "$(wc -l <starts.txt)" = 3 ] || fail "not three launches: $(cat three.txt)"
grep -q ' of 3 that were asked for' three.csv || fail "not three launches: $(grep launches three.csv)"
rm starts.txt
"$rubato" calibrate --quick --seconds 2 --plan plan.toml -o one.toml -- ./starts "$mpirun" -n 2 >one.txt 2>&1 || fail "$(cat one.txt)"
[ "$(wc -l <starts.txt)" = 1 ] || fail "a quick run makes one launch: $(cat one.txt)"
plan 'lengths = "none.csv"'
expect_failure 1 "none.csv" run 2 "$rubato" calibrate -o a.toml --plan plan.toml
[ -z "$(find . -name 'a.*' -o -name '*launches*')" ] || fail "left behind: $(ls -A)"
