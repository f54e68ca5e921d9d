#!/bin/sh
# A run that is told to stop writes what it has, and says so in the file.
. "$(dirname "$0")/lib.sh"

# Rank 0 stops itself after a while, as a batch system would stop it.
cat >stop_later.sh <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
if [ "$rank" = 0 ]; then (sleep "$STOP_AFTER"; kill -TERM $$) & fi
exec "$@"
END
chmod +x stop_later.sh
# On a busy machine nothing is measured yet after four seconds.
for STOP_AFTER in 4 8 16 32; do
  export STOP_AFTER
  if run 2 ./stop_later.sh "$rubato" calibrate -o cluster.toml >table.txt 2>complaint.txt; then break; fi
  grep -q 'interrupted before a level was measured' complaint.txt || fail "$(cat complaint.txt)"
  [ ! -e cluster.toml ] || fail "a file without levels"
done
grep -q '^interrupted = ' cluster.toml || fail "the file does not tell: $(cat cluster.toml)"
grep -q '^\[level.node\]' cluster.toml || fail "no node level: $(cat cluster.toml)"
