#!/bin/sh
# `rubato trace --runs N mpirun ...`: the archive is the run of median elapsed time. info, replay, its page and diff state
# the times of all runs.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Each run sleeps for another time, and counts the lines of its input. With an argument the second run fails. */
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, run = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE* file = fopen("count", "r+");
    if (fscanf(file, "%d", &run) != 1) abort();
    rewind(file);
    fprintf(file, "%d\n", run + 1);
    fclose(file);
    int lines = 0;
    for (int c; (c = getchar()) != EOF;) lines += c == '\n';
    printf("%d lines\n", lines);
    usleep((int[]){30000, 90000, 60000}[run % 3]);
  }
  MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return argc > 1 && run == 1 ? 3 : 0;
}
C
exec </dev/null
echo 0 >count
printf 'one\ntwo\n' >input.txt
"$rubato" trace --runs 3 -o run.otf2dir "mpirun.$flavour" -n 2 ./app <input.txt >out.txt 2>err.txt || fail "exit code $?: $(cat err.txt)"
# Each run reads both lines.
[ "$(grep -c '^2 lines' out.txt)" = 3 ] || fail "input: $(cat out.txt)"
[ "$(cat count)" = 3 ] || fail "$(cat count) runs"
[ "$(ls -d run*)" = run.otf2dir ] || fail "other archives: $(ls -d run*)"
grep -q "^rubato: kept $work/run.otf2dir, the median of 3 runs: .* to " err.txt || fail "$(cat err.txt)"
check_readable "three runs" run.otf2dir
# The archive's elapsed time is the second of the three.
[ "$(wc -l <run.otf2dir/rubato-runs.txt)" = 3 ] || fail "$(cat run.otf2dir/rubato-runs.txt)"
"$rubato" replay run.otf2dir --html page.html --json replay.json >replay.txt
$python - <<'P' || fail "not the median"
import json
runs = [float(line) for line in open('run.otf2dir/rubato-runs.txt')]
elapsed = json.load(open('replay.json'))['scenarios'][0]['elapsed']
assert abs(sorted(runs)[1] - elapsed) < 1e-9, (runs, elapsed)
# Sleeps of 30, 90 and 60 ms, in this order.
assert all(run >= least for run, least in zip(runs, (0.03, 0.09, 0.06))), runs
P
"$rubato" info run.otf2dir >info.txt
for file in info.txt replay.txt page.html; do
  grep -q "Elapsed of 3 runs: .* to .*; this is the median\." $file || fail "$file: $(head -c 2000 $file)"
done
"$rubato" diff run.otf2dir run.otf2dir >diff.txt
grep -q "(mean of 3 runs: " diff.txt || fail "$(cat diff.txt)"
tr '\n' ' ' <diff.txt | grep -q "(3 + 3 runs, which vary by " || fail "$(cat diff.txt)"

# A failed run: its exit code, and the archives of all runs so far.
echo 0 >count
code=0
"$rubato" trace --runs 3 -o bad.otf2dir "mpirun.$flavour" -n 2 ./app fail >out.txt 2>err.txt || code=$?
[ $code = 3 ] || fail "exit code $code of a failed run"
grep -q "^rubato: $work/bad.run2.otf2dir failed with 3: no median" err.txt || fail "$(cat err.txt)"
[ -e bad.run1.otf2dir ] && [ ! -e bad.otf2dir ] && [ ! -e bad.run3.otf2dir ] || fail "$(ls -d bad*)"
expect_failure 1 "bad.run1.otf2dir exists: remove it; nothing was started" "$rubato" trace --runs 3 -o bad.otf2dir "mpirun.$flavour" -n 2 ./app

echo 0 | expect_failure 1 "only the first run could read standard input" "$rubato" trace --runs 3 -o piped.otf2dir "mpirun.$flavour" -n 2 ./app ||
  exit 1
expect_failure 2 "--runs starts the MPI job several times" run 1 "$rubato" trace --runs 3 ./app
expect_failure 2 "--no-archive excludes --runs" "$rubato" trace --runs 3 --no-archive ./app
expect_failure 2 "--runs 0: expected 1 to 99" "$rubato" trace --runs 0 ./app

# A run of no time is one, too. Times of other runs are ignored.
sed -i '1i 0' run.otf2dir/rubato-runs.txt
"$rubato" info run.otf2dir >info.txt
grep -q "Elapsed of 4 runs: 0 s to " info.txt || fail "$(cat info.txt)"
echo 1e3 >run.otf2dir/rubato-runs.txt
"$rubato" info run.otf2dir >info.txt
grep -q "^rubato-runs.txt is ignored: the archive's elapsed time is not in it" info.txt && ! grep -q "1 runs" info.txt || fail "$(cat info.txt)"
"$rubato" diff run.otf2dir run.otf2dir >diff.txt 2>err.txt
! grep -q "mean of" diff.txt && grep -q "rubato: warning: run.otf2dir: rubato-runs.txt is ignored" err.txt || fail "$(cat diff.txt err.txt)"
# The file says nothing about a recorded run in text beside it.
printf '0: 0..0 init\n0: 10..10 finalize\n0: 10 end\n' >run.otf2dir/text.txt
"$rubato" info run.otf2dir/text.txt >info.txt || fail "$(cat info.txt)"
! grep -q rubato-runs.txt info.txt || fail "$(cat info.txt)"
echo nonsense >run.otf2dir/rubato-runs.txt
expect_failure 1 "rubato-runs.txt of run.otf2dir/traces.otf2: expected seconds, a line per run" "$rubato" info run.otf2dir
pass
