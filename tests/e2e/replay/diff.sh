#!/bin/sh
# rubato diff: a program that rank 0 slows down by 1.5 s of sleep before its second message, against the one that
# does not sleep. The gap is found where it is: in rank 0's compute, and in rank 1's receive.
. "$(dirname "$0")/../lib.sh"

cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, more = argc > 2;
  static char data[8192];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    if (rank == 0 && i == 1) usleep(atoi(argv[1]));
    if (rank == 0) MPI_Send(data, sizeof data, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, sizeof data, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (more && i == 1) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
C
build_program app
for run in "slow 1500000" "fast 0" "more 0 barrier"; do
  set -- $run
  archive=$1.otf2dir
  shift
  run 2 "$rubato" trace -o "$archive" ./app "$@" || fail "exit code $?"
done

"$rubato" diff slow.otf2dir slow.otf2dir >same.txt || fail "diff: $(cat same.txt)"
grep -q "equal to the measured run" same.txt || fail "a run differs from itself: $(cat same.txt)"
"$rubato" diff slow.otf2dir fast.otf2dir --json diff.json --threshold 1s >diff.txt || fail "diff: $(cat diff.txt)"
"$rubato" diff more.otf2dir fast.otf2dir --json more.json >more.txt || fail "diff: $(cat more.txt)"
"$python" - <<'END' || fail "$(cat diff.txt more.txt)"
import json
d = json.load(open("diff.json"))
assert d["operations"]["different"] + d["operations"]["only_predicted"] + d["operations"]["only_measured"] == 0, d
assert d["first_difference"] is None
assert d["gap"] > 1, d["gap"]
drift = d["first_drift"]
# Rank 0 is behind when it has sent its second message; rank 1 enters its receive of that long before.
assert drift["rank"] in (0, 1) and abs(drift["drift"]) > 1, drift
assert d["by_call"]["compute"]["gap"] > 1, d["by_call"]
assert d["by_call"]["MPI_Recv"]["gap"] > 1, d["by_call"]
assert d["largest"][0]["rank"] == 1 and d["largest"][0]["predicted"]["operation"].startswith("MPI_Recv of 8"), d["largest"]
total = sum(p["predicted"] for p in d["by_call"].values())
assert abs(total - sum(r["predicted"] for r in d["by_rank"])) < 1e-9, total
m = json.load(open("more.json"))
assert m["operations"]["only_predicted"] == 2 and m["operations"]["only_measured"] == 0, m["operations"]
assert m["first_difference"]["predicted"]["operation"] == "MPI_Barrier", m["first_difference"]
assert m["first_difference"]["measured"] is None
END
build_program alone <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
run 1 "$rubato" trace -o one.otf2dir ./alone
expect_failure 1 "only runs with equal numbers of ranks" "$rubato" diff slow.otf2dir one.otf2dir
pass
