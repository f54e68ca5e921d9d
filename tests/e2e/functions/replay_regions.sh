#!/bin/sh
# region=NAME*FACTOR on an archive with functions. Rank 0 is in busy() for at least 60 ms, including 20 ms in a function
# that it calls, and rank 1 waits for it; so halving the time saves at least 30 ms of the run, and a quarter of the time
# 45 ms. Time of busy() inside MPI does not count.
. "$(dirname "$0")/../lib.sh"

cat >app.c <<'C'
#include <mpi.h>
#include <time.h>
/* Of the processor: what others took of it meanwhile is no compute. */
__attribute__((no_instrument_function)) static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
__attribute__((no_instrument_function)) static void spin(double seconds) {
  double end = now() + seconds;
  MPI_Wtime();  /* on record, but without any length to speak of */
  while (now() < end) {}
}
static void inner(void) { spin(0.02); }
static void busy(void) {
  inner();
  spin(0.04);
  MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) busy();
  else MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
build_program app -finstrument-functions
trace 2 --functions ./app || fail "exit code $?"
"$rubato" replay run.otf2dir --only --on perfect --on "perfect:region=busy*0.5" --on "perfect:region=busy*0.25" \
  --on "perfect:region=inner*0.5" --on "perfect:rank1.cpu*2" --json results.json >replay.txt ||
  fail "replay: $(cat replay.txt)"
"$python" - <<'END' || fail "elapsed times"
import json
elapsed = [s["elapsed"] for s in json.load(open("results.json"))["scenarios"]]
half, quarter, inner, other = (elapsed[0] - e for e in elapsed[1:])
print(elapsed)
# (The processor's clock, less what was lost, and that of the trace agree to 1 %.)
assert 0.0297 <= half <= elapsed[0] / 2, half
assert abs(quarter - 1.5 * half) < 1e-6, (quarter, half)
assert 0.0099 <= inner < half, inner
assert abs(other) < 0.005, other  # rank 1 has nothing to do
END
expect_failure 1 "did you mean 'busy'" "$rubato" replay run.otf2dir --on perfect:region=busi*0.5

# A reader that closes the pipe early: the file is complete, nothing is left next to it, and the command ends by
# SIGPIPE.
"$python" - "$rubato" <<'END' || fail "a closed standard output"
import os, signal, subprocess, sys
unread, stdout = os.pipe()
os.close(unread)
run = subprocess.run([sys.argv[1], "replay", "run.otf2dir", "--csv", "unread.csv"], stdout=stdout,
                     stderr=subprocess.PIPE)
assert run.returncode == -signal.SIGPIPE, run
assert b"error" not in run.stderr, run.stderr
assert [name for name in os.listdir(".") if "unread" in name] == ["unread.csv"], os.listdir(".")
assert open("unread.csv").read().startswith("scenario,rank,kind"), "half of it"
END

# The first lines name the rank and the function that delay all others, with its place.
cat >app.c <<'C'
#include <mpi.h>
#include <time.h>
__attribute__((noinline)) static void spin(double seconds) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const double end = now.tv_sec + 1e-9 * now.tv_nsec + seconds;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec + 1e-9 * now.tv_nsec < end);
}
__attribute__((noinline)) static void smooth(void) { spin(0.01); }
__attribute__((noinline)) static void assemble(void) { spin(0.05); }
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  smooth();
  if (rank == 1) assemble();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
C
build_program app -g -finstrument-functions -finstrument-functions-exclude-function-list=spin
rm -rf run.otf2dir
trace 2 --functions ./app || fail "exit code $?"
"$rubato" replay run.otf2dir >verdict.txt || fail "replay"
# 60 of a mean of 35 ms: some 70 % more.
head -n 6 verdict.txt | tr '\n' ' ' | grep -Eq 'rank 1 computes (6|7|8)[0-9] % longer than the mean rank, in assemble \(app.c:11\)' ||
  fail "the slow function is not named: $(cat verdict.txt)"
