#!/bin/sh
# The messages of a rank take twice the largest one, however many of them are under way at once; what does not fit
# into a node is refused before it is tried.
. "$(dirname "$0")/../lib.sh"

# Runs a command and writes its peak memory in MiB. Its file descriptors are the launcher's.
cat >most.py <<'END'
import os, resource, sys
code = os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:])
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK")
with open("most." + rank, "w") as file:
    file.write("%d" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
sys.exit(code)
END
plan 'max_size = "16MiB"' 'collectives = "none"' 'patterns = "halo_persistent"'
run 2 "$python" most.py "$rubato" calibrate -o large.toml --quick --seconds 4 --plan plan.toml --levels node >out.txt || fail "$(cat out.txt)"
# Twice 16 MiB, and less than 64 MiB for MPI and the program. (Rank 0 copies through its caches besides.)
[ "$(cat most.1)" -lt 96 ] || fail "rank 1 had $(cat most.1) MiB"
# Two ranks are a torus with two neighbours each (or the same one twice): two messages of 8 MiB.
grep -q '^node,halo_persistent,8388608,' large.csv || fail "no halo of 8 MiB"
! grep -q '^node,halo_persistent,16777216,' large.csv || fail "a halo of 16 MiB"
grep -q '^node,burst,8388608,2,' large.csv || fail "no burst of 8 MiB"
! grep -q '^node,burst,16777216,' large.csv || fail "a burst of 16 MiB"
grep -q '^node,pingpong,16777216,' large.csv || fail "no ping-pong of 16 MiB"

# 2 GiB for each rank, and two ranks more than there is memory for: not tried where that takes more than 16 ranks.
ranks=$(awk '/^MemAvailable:/ { print int($2 / 2 ^ 21) + 2 }' /proc/meminfo)
if [ "$ranks" -le 16 ]; then
  plan 'max_size = "1GiB"'
  expect_failure 1 "messages of 1GiB need" run "$ranks" "$rubato" calibrate -o all.toml --plan plan.toml
  grep -q "($ranks ranks, up to 2GiB each), where .* left; choose a smaller max_size" out.txt || fail "$(cat out.txt)"
  [ "$(grep -c 'rubato: ' out.txt)" = 1 ] || fail "more than one line: $(cat out.txt)"
  [ -z "$(ls all.* ./*.partial 2>/dev/null)" ] || fail "left behind: $(ls -A)"
fi

# A single rank runs out of memory during the run: it reports this and ends all ranks, and none waits for it. 2000 MB of
# address space are enough to start, but not for twice 1 GiB. (The sanitizers need terabytes.)
if ! grep -q __asan_init "$build/libexec/rubato/rubato-calibrate-$flavour"; then
  cat >limited.sh <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || ulimit -v 2000000
exec "$@"
END
  chmod +x limited.sh
  plan 'max_size = "1KiB"' 'collectives = "none"'
  run 2 ./limited.sh "$rubato" calibrate -o self.toml --quick --levels self --plan plan.toml \
    >out.txt 2>&1 || skip "all but memory that runs out: MPI does not begin with 2000 MB of addresses: $(tail -1 out.txt)"
  printf '%s\n' level,pattern,bytes,seconds_min self,sendrecv,8,1 self,sendrecv,64,1 \
    node,pingpong,8,1 node,pingpong,64,1 node,pingpong,1073741824,1 >three.csv
  plan 'max_size = "1GiB"' 'lengths = "three.csv"' 'patterns = "none"' 'collectives = "none"'
  expect_failure 1 "rubato: error: no memory for a buffer of 1GiB; choose a smaller max_size" \
    run 2 timeout 100 ./limited.sh "$rubato" calibrate -o one.toml --quick --seconds 2 --plan plan.toml
  [ "$(grep -c 'rubato: ' out.txt)" = 1 ] || fail "more than one line: $(cat out.txt)"
  # (Level self may have been measured before: levels come in random order. Its samples stay.)
  [ -z "$(ls one.toml one.csv 2>/dev/null)" ] || fail "left behind: $(ls -A)"
fi
pass
