#!/bin/sh
# Ranks on two sockets of one core each, on a machine simulated for hwloc: socket and node are measured separately, each
# with the right partner, and the replay with the resulting file distinguishes their messages.
. "$(dirname "$0")/../lib.sh"
# One MPI flavour is enough: which ranks talk is decided by what all of them see.
[ "$flavour" = openmpi ] || skip "sockets are looked at under Open MPI"
# The numbers of the cores simulated for hwloc.
case $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) in
0-*) ;;
*) skip "cores 0 and 1 may not be used" ;;
esac
# Ranks 0 and 2 on the first, 1 and 3 on the second; `together` all on the first; `loose` rank 2 on either.
cat >bound.sh <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
core=$((rank % 2))
[ "$1" != together ] || core=0
[ "$1" != loose ] || [ "$rank" != 2 ] || core=0,1
shift
export HWLOC_SYNTHETIC="package:2 core:1 pu:1" HWLOC_THISSYSTEM=1
exec taskset -c "$core" "$@"
END
chmod +x bound.sh
plan 'max_size = "1KiB"' 'patterns = "none"' 'collectives = "none"'
calibrate() { # HOW OPTIONS: four ranks
  how=$1
  shift
  run 4 ./bound.sh "$how" "$rubato" calibrate --quick --seconds 2 --plan plan.toml "$@"
}
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

calibrate apart -o cluster.toml >table.txt 2>&1 || fail "$(cat table.txt)"
grep -q '^socket level, rank 0 and rank 2$' table.txt || fail "who is on the socket: $(cat table.txt)"
grep -q '^node level, rank 0 and rank 3$' table.txt || fail "who is not: $(cat table.txt)"
[ "$(grep -c '^\[level\.' cluster.toml)" = 3 ] || fail "levels: $(grep '^\[' cluster.toml)"
grep -q '^\[level.socket\]  # two ranks on one socket$' cluster.toml || fail "no socket level: $(cat cluster.toml)"
"$rubato" fit cluster.csv -o again.toml >fit.txt || fail "fit: $(cat fit.txt)"
grep -q '^\[level.socket\]' again.toml || fail "fitted without sockets: $(cat fit.txt)"

expect_failure 1 "--levels socket: rank 0 does not have one rank on its socket and one on another" \
  calibrate loose -o no.toml --levels socket
expect_failure 1 "--levels socket: rank 0 does not have one rank on its socket and one on another" \
  calibrate together -o no.toml --levels socket
calibrate together -o one.toml --levels node >table.txt 2>&1 || fail "$(cat table.txt)"
grep -q '^node level, rank 0 and rank 3$' table.txt || fail "one socket is not the node: $(cat table.txt)"
! grep -q '^\[level.socket\]' one.toml || fail "a level that there is not"
pass
