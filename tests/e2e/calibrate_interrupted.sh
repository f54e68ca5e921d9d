#!/bin/sh
# A run that is told to stop writes what it has, and says so in the file.
. "$(dirname "$0")/lib.sh"

# Rank 0 stops itself after a while, as a batch system would stop it.
cat >stop_later.sh <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
if [ "$rank" = 0 ]; then (sleep 4; kill -TERM $$) & fi
exec "$@"
END
chmod +x stop_later.sh
start=$(date +%s)
run 2 ./stop_later.sh "$rubato" calibrate -o cluster.toml >table.txt
seconds=$(($(date +%s) - start))
[ $seconds -le 15 ] || fail "stopped only after $seconds s"
grep -q '^interrupted = ' cluster.toml || fail "the file does not tell: $(cat cluster.toml)"
grep -q '^\[level.node\]' cluster.toml || fail "no node level: $(cat cluster.toml)"
