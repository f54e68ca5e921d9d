#!/bin/sh
# `rubato trace --summary`: one line at the end says what `rubato profile` says of the archive of the same run. With
# --no-archive it is all there is, also of runs whose records fill many segments, and of killed ones nothing stays.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Rank 0 computes twice as long as the others; then many small calls. The exit code is not 0. */
int main(int argc, char** argv) {
  int rank, size, x = 0, y, rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(argv[2], "end") && rank == size - 1) kill(getpid(), SIGKILL);
  for (int i = 0; i < rounds; ++i) {
    for (double end = MPI_Wtime() + (rank == 0 ? 0.004 : 0.002); MPI_Wtime() < end;) continue;
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 3, &y, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < atoi(argv[3]); ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 7;
}
C
cat >check.py <<'P'
import json, re, sys
line = open("said.txt").read().splitlines()[0]
m = re.fullmatch(r"rubato: summary: 3 ranks, elapsed (\S+) s, (\S+) % of it in MPI \((.*?)\)"
                 r"(?:, load balance (\S+) %)(?:, without a core (\S+) %)?", line)
assert m, line
[scenario] = json.load(open("profile.json"))["scenarios"]
ranks = scenario["ranks"]
total = lambda key: sum(rank[key] for rank in ranks)
# Every rank's rows add up to its window, which is what shares are of.
window = sum(total(key) for key in ("compute", "mpi", "flushing", "lost_core"))
def near(text, truth, what):  # half of the last digit, which is at worst a whole per cent, and the clocks' ticks
    assert abs(float(text) - truth) <= (0.5 if "." not in text else 0.05) + 0.05, f"{what}: {truth} in: {line}"
near(m[2], 100 * total("mpi") / window, "MPI")
calls = sorted(((c["time"], name) for name, c in scenario["calls"].items()), reverse=True)[:3]
calls = [(time, name) for time, name in calls if time >= 0.0005 * window]
shown = m[3].split(", ")
assert [name for _, name in calls] == [word.split()[0] for word in shown], (calls, line)
for (time, name), word in zip(calls, shown): near(word.split()[1], 100 * time / window, name)
computes = [rank["compute"] for rank in ranks]
near(m[4], 100 * sum(computes) / len(computes) / max(computes), "load balance")
if m[5]: near(m[5], 100 * total("lost_core") / window, "lost cores")
# Three digits.
assert abs(float(m[1]) / scenario["elapsed"] - 1) < 0.006, (scenario["elapsed"], line)
P
said() { grep '^rubato:' err.txt >said.txt || true; }

rc=0
trace 3 --summary ./app 40 run 100 2>err.txt || rc=$?
[ $rc = 7 ] || fail "exit code $rc: $(cat err.txt)"
said
[ "$(wc -l <said.txt)" = 2 ] && grep -q '^rubato: wrote run.otf2dir' said.txt || fail "$(cat err.txt)"
"$rubato" profile run.otf2dir --on measured --json profile.json >/dev/null || fail "profile"
$python check.py >out.txt 2>&1 || fail "$(tail -1 out.txt)"
check_archive

# By the environment, with a window: only a part is recorded.
rm -rf run.otf2dir
RUBATO_SUMMARY=1 run 2 "$rubato" trace -o run.otf2dir --window 0.02: ./app 20 run 1 2>err.txt || true
said
grep -q '^rubato: summary: 2 ranks, .*; shares of what was recorded$' said.txt || fail "$(cat err.txt)"

# Without an archive: 400,000 calls of 8 bytes fill a dozen segments of 256 KiB, all of which are dropped. The exchanges
# are in the first one.
mkdir empty
rc=0
(cd empty && run 3 "$rubato" trace --no-archive ../app 40 run 400000 2>../err.txt) || rc=$?
[ $rc = 7 ] || fail "exit code $rc: $(cat err.txt)"
said
[ "$(wc -l <said.txt)" = 1 ] || fail "$(cat err.txt)"
# (Waits for rank 0 are in one of these two. Lost cores are not part of MPI, so others may take longer.)
grep -Eq '^rubato: summary: 3 ranks, elapsed .* of it in MPI \(.*MPI_(Sendrecv|Allreduce) .*\), load balance' said.txt ||
  fail "$(cat err.txt)"
[ -z "$(ls -A empty)" ] || fail "files: $(ls -A empty)"
! grep -l "$work" /dev/shm/rubato-*/*.journal 2>/dev/null || fail "records in /dev/shm"

# Killed: said is that there is none.
(cd empty && run 2 "$rubato" trace --no-archive ../app 1 end 1 2>../err.txt) && fail "exit code 0"
tries=0
until grep -q '^rubato: no summary: the program ended without MPI_Finalize' err.txt; do
  tries=$((tries + 1))
  [ $tries -lt 50 ] || fail "killed: $(cat err.txt)"
  sleep 0.1
done
[ -z "$(ls -A empty)" ] || fail "files: $(ls -A empty)"
expect_failure 2 "--no-archive excludes --output" "$rubato" trace --no-archive -o run.otf2dir ./app
pass
