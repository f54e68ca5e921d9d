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
grep -q "^Elapsed: 0.0 %" same.txt || fail "a run differs from itself: $(cat same.txt)"
"$rubato" diff fast.otf2dir slow.otf2dir --json diff.json --threshold 1s >diff.txt || fail "diff: $(cat diff.txt)"
"$rubato" diff fast.otf2dir more.otf2dir --json more.json >more.txt || fail "diff: $(cat more.txt)"
"$python" - <<'END' || fail "$(cat diff.txt more.txt)"
import json
d = json.load(open("diff.json"))
assert d["operations"]["different"] + d["operations"]["only_old"] + d["operations"]["only_new"] == 0, d
assert d["first_difference"] is None
assert d["gap"] > 1, d["gap"]
drift = d["first_drift"]
# Rank 0 is behind when it has sent its second message; rank 1 enters its receive of that long before.
assert drift["rank"] in (0, 1) and abs(drift["drift"]) > 1, drift
assert d["by_call"]["compute"]["gap"] > 1, d["by_call"]
assert d["by_call"]["MPI_Recv"]["gap"] > 1, d["by_call"]
assert d["largest"][0]["rank"] == 1 and d["largest"][0]["new"]["operation"].startswith("MPI_Recv of 8"), d["largest"]
total = sum(p["new"] for p in d["by_call"].values())
assert abs(total - sum(r["new"] for r in d["by_rank"])) < 1e-9, total
m = json.load(open("more.json"))
assert m["operations"]["only_new"] == 2 and m["operations"]["only_old"] == 0, m["operations"]
assert m["first_difference"]["new"]["operation"] == "MPI_Barrier", m["first_difference"]
assert m["first_difference"]["old"] is None
END
# A gate: 3.5 times the work, in a function that two others call, beside equal runs. The limits are wide, for busy
# machines.
cat >work.c <<'C'
#include <mpi.h>
#include <stdlib.h>
static volatile double sum;
__attribute__((noinline)) void burn(long n) { for (long i = 0; i < n; ++i) sum += i * 0.5; }
__attribute__((noinline)) void assemble(long n) { burn(n); sum += 1; }
__attribute__((noinline)) void solve(long n) { burn(n); sum += 2; }
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    solve(1000000);
    assemble(rank == 1 ? 1000000 * atol(argv[1]) : 1000000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
C
build_program work -finstrument-functions
for run in "old1 1" "old2 1" "old3 1" "equal 1" "slower 6"; do
  set -- $run
  run 2 "$rubato" trace --functions -o "$1.otf2dir" ./work "$2" || fail "exit code $?"
done
old="old1.otf2dir old2.otf2dir old3.otf2dir"
# shellcheck disable=SC2086  # several archives
"$rubato" diff $old equal.otf2dir --fail-above 50% >equal.txt || fail "equal runs: $(cat equal.txt)"
code=0
# shellcheck disable=SC2086
"$rubato" diff $old slower.otf2dir --fail-above 50% >slower.txt || code=$?
# Beyond 10 % of lost cores nothing is certain, and a gate does not fail then.
lost=$(sed -n 's/^Cores: other programs took up to \([0-9]*\).*/\1/p' slower.txt)
[ "$code" = 3 ] || { [ "${lost:-0}" -ge 10 ] && grep -q "not certain to be below 50 %" slower.txt; } ||
  fail "exit code $code, not 3: $(cat slower.txt)"
tr '\n' ' ' <slower.txt | grep -Eq "on rank 1; .* in burn( \([^)]*\))?, +called by +assemble" ||
  fail "the function is not named: $(cat slower.txt)"

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
expect_failure 1 "only runs with equal numbers of ranks can be compared" "$rubato" diff slow.otf2dir one.otf2dir
expect_failure 1 "not runs of the same program" "$rubato" diff slow.otf2dir equal.otf2dir
pass
