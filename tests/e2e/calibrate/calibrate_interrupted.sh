#!/bin/sh
# A run that is stopped writes its results so far, with a note in the file, or prints where its samples are if they do
# not suffice for a file. A killed run leaves its samples. A run on a terminal shows the remaining time.
. "$(dirname "$0")/../lib.sh"

# stop_when.sh COMMAND...: stops rank 0 once the file $WHERE has a line like $WHAT.
cat >stop_when.sh <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
[ "$WHERE" != self ] || WHERE=/proc/$$/status
if [ "$rank" = 0 ]; then
  (
    for _ in $(seq 3000); do
      ! grep -qs "$WHAT" "$WHERE" || break
      sleep 0.02
    done
    kill -TERM $$
  ) &
fi
exec "$@"
END
chmod +x stop_when.sh
# It has what was kept until then, as a whole file.
WHERE=cluster.csv.partial WHAT='^node,exchange,'
export WHERE WHAT
run 2 ./stop_when.sh "$rubato" calibrate -o cluster.toml --quick --seconds 5 >table.txt || fail "$(cat table.txt)"
grep -q '^interrupted = ' cluster.toml || fail "the file does not tell: $(cat cluster.toml)"
grep -q '^\[level.node\]' cluster.toml || fail "no node level: $(cat cluster.toml)"
[ ! -e cluster.csv.partial ] || fail "partial samples remain"
# The same if the launcher gets the signal, which kills its ranks a second later, although 'rubato fit' then takes
# longer.
preload_into_fit 'sleep(3);'
plan 'max_size = "64KiB"' 'patterns = "none"' 'collectives = "none"'
LD_PRELOAD=$work/into_fit.so "mpirun.$flavour" -n 2 "$rubato" calibrate -o told.toml --quick --seconds 6 --plan plan.toml \
  >table.txt 2>&1 &
launcher=$!
for _ in $(seq 600); do
  ! grep -qs '^node,exchange,' told.csv.partial || break
  sleep 0.1
done
kill -TERM $launcher
wait $launcher || true
for _ in $(seq 300); do
  [ ! -e told.toml ] || break
  sleep 0.1
done
grep -q '^interrupted = ' told.toml || fail "no file, or it does not tell: $(cat told.toml table.txt)"

# Measured samples are kept, although two lengths give no curve.
printf '%s\n' level,pattern,bytes,seconds_min node,pingpong,8,1 node,pingpong,64,1 self,sendrecv,8,1 self,sendrecv,64,1 >two.csv
plan 'max_size = "64KiB"' 'lengths = "two.csv"' 'patterns = "none"' 'collectives = "none"'
WHERE=few.csv.partial WHAT='^node,pingpong,'
expect_failure 1 "interrupted before a level had the three lengths that a curve needs; no platform file was written; \
what messages took before that is in few.csv.partial" \
  run 2 ./stop_when.sh "$rubato" calibrate -o few.toml --quick --seconds 6 --plan plan.toml
[ ! -e few.csv ] && [ ! -e few.toml ] || fail "half of a run has the name of a whole one"
[ "$(grep -c '^node,pingpong,' few.csv.partial)" = 2 ] || fail "not what was measured: $(cat few.csv.partial)"
# The same for a run that completed.
printf 'level,pattern,bytes,seconds_min\nself,sendrecv,8,1\nself,sendrecv,64,1\n' >two.csv
plan 'max_size = "1KiB"' 'lengths = "two.csv"' 'patterns = "none"' 'collectives = "none"'
expect_failure 1 "no level has the three lengths that a curve needs; no platform file was written; what messages took \
before that is in short.csv.partial" \
  run 2 "$rubato" calibrate -o short.toml --quick --seconds 1 --plan plan.toml --levels self
[ "$(grep -c '^self,sendrecv,' short.csv.partial)" = 2 ] || fail "not what was measured: $(cat short.csv.partial)"
# No file appears if none existed: stop it as soon as it catches SIGTERM (bit 14 of SigCgt). It is then searching for
# the eager limit, which takes a second, before it measures.
plan 'patterns = "none"' 'collectives = "none"'
WHERE=self WHAT='^SigCgt:.*[4-7c-f]...$'
expect_failure 1 "interrupted before a level was measured; nothing was written" \
  run 2 ./stop_when.sh "$rubato" calibrate -o none.toml --quick --plan plan.toml
[ -z "$(ls none.* 2>/dev/null)" ] || fail "files without samples: $(ls none.*)"

# Rank 0 is killed as soon as the first level and its bursts are kept.
sed 's/kill -TERM/kill -KILL/' stop_when.sh >kill_when.sh
chmod +x kill_when.sh
plan 'max_size = "64KiB"' 'patterns = "none"' 'collectives = "none"'
WHERE=killed.csv.partial WHAT='^node,exchange,'
! run 2 ./kill_when.sh "$rubato" calibrate -o killed.toml --quick --seconds 5 --plan plan.toml --levels node \
  >killed.txt 2>&1 || fail "it was not killed: $(cat killed.txt)"
[ ! -e killed.csv ] && [ ! -e killed.toml ] || fail "half of a run has the name of a whole one"
[ "$(grep -c '^level,' killed.csv.partial)" = 1 ] || fail "not one launch: $(cat killed.csv.partial)"
grep -q '^# mpi: ' killed.csv.partial || fail "the samples do not say what was measured"
"$rubato" fit killed.csv.partial -o killed.toml >fit.txt || fail "fit: $(cat fit.txt)"
grep -q '^gap = ' killed.toml || fail "the bursts were not kept"
# The same once more would take them away.
rm killed.toml
plan 'max_size = "1KiB"' 'patterns = "none"' 'collectives = "none"'
expect_failure 1 "killed.csv.partial is what a run left that was killed or failed" \
  run 2 "$rubato" calibrate -o killed.toml --quick --plan plan.toml
grep -q '^node,exchange,' killed.csv.partial || fail "a second start took the samples away"
run 2 "$rubato" calibrate -o killed.toml --quick --seconds 1 --plan plan.toml --levels self --force \
  >table.txt || fail "--force: $(cat table.txt)"
[ -e killed.csv ] && [ ! -e killed.csv.partial ] || fail "--force did not replace them"

# Ranks have pipes, whatever their launcher has: the launcher's terminal shows the remaining time.
if command -v script >/dev/null; then
  script -qec "mpirun.$flavour -n 2 '$rubato' calibrate -o self.toml --quick --plan plan.toml --levels self" \
    screen.txt >/dev/null </dev/null || fail "on a terminal: $(cat screen.txt)"
  grep -q 'self: cycle [0-9]*, [0-9]* lengths; .* s left' screen.txt || fail "no progress: $(cat screen.txt)"
else
  echo "progress on a terminal was not looked at: there is no script(1)"
fi
