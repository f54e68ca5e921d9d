#!/bin/sh
# A replay that was ended goes on from its checkpoint and finds the same bytes, whoever goes on: one thread, several, or
# processes. What is damaged is replayed again; what is of another run is refused.
. "$(dirname "$0")/lib.sh"

build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  static char in[20000], out[20000];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) {
    MPI_Sendrecv(out, 1000 * i, MPI_CHAR, (rank + 1) % size, 0, in, 1000 * i, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(out, in, 100, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app 2>trace.txt || fail "trace: $(cat trace.txt)"

# 20 scenarios that each have a pass of their own, and one that shares a pass with nothing.
machines="--on ethernet-10g"
for ratio in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  machines="$machines --on infiniband-hdr:dr=$ratio,ppn=1"
done
# The words of a list:
# shellcheck disable=SC2086
replay() { "$rubato" replay run.otf2dir $machines "$@"; }
replay --json whole.json --csv whole.csv >whole.txt || fail "replay"

# ended: a run that ends in the middle, since no file may have more than 16 KiB (`ulimit -f` counts 512 bytes).
ended() {
  rm -f checkpoint* part.*
  if (ulimit -f 32 && replay --checkpoint checkpoint --json part.json >part.txt 2>part.err); then
    fail "16 KiB are enough for 21 scenarios"
  fi
  [ "$(grep -c 'rubato: error: checkpoint: the checkpoint cannot be written' part.err)" = 1 ] ||
    fail "a full disk: $(cat part.err)"
  [ -s checkpoint ] || fail "the checkpoint is gone"
  [ ! -e part.json ] || fail "half a file"
}
# resumed WHAT COMMAND...: the command, which replays to part.*, found some scenarios and the rest.
resumed() {
  what=$1
  shift
  "$@" --checkpoint checkpoint --json part.json --csv part.csv >part.txt 2>part.err || fail "$what: $(cat part.err)"
  found=$(sed -n 's/^rubato: \([0-9]*\) of [0-9]* replays were in checkpoint$/\1/p' part.err)
  [ "${found:-0}" -ge 1 ] || fail "$what found nothing: $(cat part.err)"
  for kind in json csv txt; do
    cmp -s whole.$kind part.$kind || fail "$what: the $kind differs"
  done
  [ -z "$(find . -name 'checkpoint*')" ] || fail "$what leaves $(ls checkpoint*)"
}

ended
resumed "one thread" replay
ended
resumed "two threads" replay --threads 2

# Of processes each has a file; here what one of them wrote is in that of the second.
ended
cp checkpoint checkpoint.1
# shellcheck disable=SC2086
resumed "two processes" run 2 "$rubato" replay run.otf2dir $machines

# A record that is damaged, or not whole, is as if it were not there.
ended
before=$found
size=$(wc -c <checkpoint)
printf 'damaged' | dd of=checkpoint bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
resumed "a damaged record" replay
[ "$found" -lt "$before" ] || fail "a damaged record is taken: $found, $before"

# Of another run, and what is none, stay as they are.
ended
cp checkpoint old
if "$rubato" replay run.otf2dir --on infiniband-hdr:dr=2 --checkpoint checkpoint >out.txt 2>&1; then fail "another command"; fi
grep -q 'rubato: error: checkpoint: is of a replay with another command' out.txt || fail "another command: $(cat out.txt)"
cmp -s checkpoint old || fail "the checkpoint of another run was changed"
cp whole.json other
if replay --checkpoint other >out.txt 2>&1; then fail "a JSON file is no checkpoint"; fi
grep -q 'rubato: error: other: is no checkpoint' out.txt || fail "no checkpoint: $(cat out.txt)"
cmp -s whole.json other || fail "what is no checkpoint was changed"

if replay --checkpoint one --json one >out.txt 2>&1; then fail "one file for two"; fi
grep -q 'rubato: --checkpoint and --json cannot be one file' out.txt || fail "one file for two: $(cat out.txt)"

if replay --checkpoint ./one --json one >out.txt 2>&1; then fail "one file under two names"; fi
grep -q 'rubato: --checkpoint and --json cannot be one file' out.txt || fail "one file under two names: $(cat out.txt)"
if "$rubato" replay no-such.otf2dir --on perfect --checkpoint early >out.txt 2>&1; then fail "no archive"; fi
[ ! -e early ] || fail "a checkpoint of a replay that could not begin"

# Files that a platform names, under whatever names, belong to it.
cat >'my net.xml' <<'X'
<?xml version='1.0'?>
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1kBps" lat="1us"/></platform>
X
printf '[network]\ntopology = "simgrid"\nfile = "my net.xml"\n' >net.toml
named=
for factor in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  named="$named --on infiniband-hdr:latency*$factor,ppn=1,network=net.toml"
done
# shellcheck disable=SC2086
if (ulimit -f 32 && "$rubato" replay run.otf2dir $named --checkpoint named) >out.txt 2>&1; then fail "16 KiB for named"; fi
[ -s named ] || fail "no checkpoint: $(cat out.txt)"
sed -i 's/1kBps/1GBps/' 'my net.xml'
# shellcheck disable=SC2086
if "$rubato" replay run.otf2dir $named --checkpoint named >out.txt 2>&1; then fail "another network"; fi
grep -q 'rubato: error: named: is of a replay with another command' out.txt || fail "another network: $(cat out.txt)"

# A file of the user's beside it has a name that a second process would take.
ended
echo mine >checkpoint.7
replay --checkpoint checkpoint >part.txt 2>&1 || fail "beside another file: $(cat part.txt)"
[ "$(cat checkpoint.7)" = mine ] || fail "a file beside the checkpoint was changed"
rm checkpoint.7
# A run may end before the head of the file is whole.
ended
head -c 40 checkpoint >short && mv short checkpoint
replay --checkpoint checkpoint --json part.json >part.txt 2>&1 || fail "a short head: $(cat part.txt)"
cmp -s whole.json part.json || fail "a short head: the JSON differs"

# Events may be written anew in place, which changes neither the anchor nor the directory.
ended
touch -d 2001-01-01 "$(find run.otf2dir/traces -name '*.evt' | head -n 1)"
if replay --checkpoint checkpoint >out.txt 2>&1; then fail "other events"; fi
grep -q 'rubato: error: checkpoint: is of a replay with another command, archive' out.txt || fail "other events: $(cat out.txt)"
pass
