#!/bin/bash
# Every kind of damage to an archive of our own ends in one line that names the place and exit code 1 (or in a replay,
# if the damage is harmless); never in a crash, a hang or more lines.
. "$(dirname "$0")/../lib.sh"

build_program ring <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, size, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 50; ++i) {
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, i, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
END
trace 2 ./ring
"$rubato" replay run.otf2dir --on measured --on perfect --verify >/dev/null || fail "the archive itself is bad"

# refuse WHAT WORDS: the copy in bad.otf2dir is refused with these words in one line.
refuse() {
  rc=0
  timeout 60 "$rubato" replay bad.otf2dir --on measured --on perfect >out.txt 2>err.txt || rc=$?
  [ $rc = 1 ] || fail "$1: exit code $rc: $(cat err.txt)"
  [ "$(wc -l <err.txt)" = 1 ] || fail "$1: not one line: $(cat err.txt)"
  [ ! -s out.txt ] || fail "$1: printed results all the same"
  grep -q -- "$2" err.txt || fail "$1: $(cat err.txt)"
}
fresh() {
  rm -rf bad.otf2dir
  cp -r run.otf2dir bad.otf2dir
}

fresh; rm bad.otf2dir/traces/1.evt;       refuse "a missing event file" "location 1 (rank 1) is missing"
fresh; rm bad.otf2dir/traces.def;         refuse "missing definitions" "definitions (.def) are missing"
fresh; rm bad.otf2dir/traces.otf2;        refuse "a missing anchor" "no .otf2 file"
fresh; truncate -s 60 bad.otf2dir/traces.otf2; refuse "a truncated anchor" "not an OTF2 anchor"
fresh; truncate -s 300 bad.otf2dir/traces.def; refuse "truncated definitions" "definitions (.def) end"

# The event file cut at many places.
size=$(stat -c %s run.otf2dir/traces/0.evt)
for cut in $(seq 0 $((size / ${CUTS:-16} + 1)) $((size - 1))); do
  fresh
  truncate -s "$cut" bad.otf2dir/traces/0.evt
  refuse "events cut at $cut of $size" "rank 0"
done

# A bit flipped at many places, seeded: refused, or replayed with what is left.
python3 - "$rubato" <<'END'
import os, pathlib, random, shutil, subprocess, sys
random.seed(20261121)
for name in "traces/0.evt", "traces.def":
    original = pathlib.Path("run.otf2dir", name).read_bytes()
    for _ in range(int(os.environ.get("FLIPS", 15))):
        damaged = bytearray(original)
        place = random.randrange(len(damaged))
        damaged[place] ^= 1 << random.randrange(8)
        shutil.rmtree("bad.otf2dir", ignore_errors=True)
        shutil.copytree("run.otf2dir", "bad.otf2dir")
        pathlib.Path("bad.otf2dir", name).write_bytes(damaged)
        run = subprocess.run([sys.argv[1], "replay", "bad.otf2dir", "--on", "measured", "--on", "perfect"],
                             capture_output=True, text=True, errors="replace", timeout=60)
        where = f"{name}, byte {place}"
        assert run.returncode in (0, 1), (where, run.returncode, run.stderr)
        if run.returncode == 1:
            assert run.stderr.count("\n") == 1 and run.stderr.startswith("rubato: error: "), (where, run.stderr)
END

# More of the same, and faster, without the command around it.
"$build/bin/damaged_archives" --archive run.otf2dir --flips 300 --cuts 5 >damage.txt || fail "$(cat damage.txt)"
pass
