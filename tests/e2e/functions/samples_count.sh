#!/bin/sh
# Functions from samples serve in all commands as instrumented ones do: profile, diff --functions, advise, region=, the
# causes of waits. The gaps between calls are shorter than the period. The program measures its functions itself.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static volatile double sink;
static double times[2];
__attribute__((noipa)) void burn(double seconds) {
  const double begin = now();
  while (now() < begin + seconds)
    for (int i = 0; i < 2000; ++i) sink += i;
}
__attribute__((noipa)) void assemble(int rank) {
  const double begin = now();
  burn(rank == 1 ? 2.8e-3 : 2e-3);
  times[0] += now() - begin;
}
__attribute__((noipa)) void solve(void) {
  const double begin = now();
  burn(SLOW * 1e-3);
  times[1] += now() - begin;
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, got;
  double sum = 0, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 200; ++step) {
    assemble(rank);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    solve();
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  double all[4];
  MPI_Gather(times, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%f %f %f %f\n", all[0], all[1], all[2], all[3]);
  MPI_Finalize();
  return 0;
}
C
for slow in 1 2; do
  build_program app -O2 -g -DSLOW=$slow
  trace 2 --sample 1ms --call-paths ./app >times$slow.txt || fail "exit code $?"
  check_archive
  check_replay
  mv run.otf2dir run$slow.otf2dir
  "$rubato" profile run$slow.otf2dir --all --on undisturbed --json profile$slow.json >profile$slow.txt || fail "profile"
done

# One time per function, with its interval and the period of the samples.
[ "$(grep -c 'by function' profile1.txt)" = 1 ] || fail "two tables: $(cat profile1.txt)"
tr -s '\n ' '  ' <profile1.txt | grep -q 'efficiencies by function, from [0-9,]* samples, one per [0-9.]* ms of processor time (1[.0]* ms asked)' ||
  fail "no period: $(cat profile1.txt)"
! grep -E 'ld-linux|ld-musl|librubato' profile1.txt profile2.txt || fail "the linker or the tracer in the tables"
"$rubato" diff run1.otf2dir run2.otf2dir --functions --all --json diff.json >diff.txt || fail "diff: $(cat diff.txt)"
tr -s '\n ' '  ' <diff.txt | grep -q 'in burn (app.c:[0-9]*), called by solve' || fail "diff names no function: $(cat diff.txt)"
grep -q 'burn.* ± ' diff.txt || fail "no intervals: $(cat diff.txt)"
"$python" - <<'P' || fail "times: $(cat times1.txt times2.txt profile1.txt profile2.txt)"
import json
truth = {}
for slow in 1, 2:
    numbers = list(map(float, open(f'times{slow}.txt').read().split()))
    truth[slow] = {'assemble': numbers[0::2], 'solve': numbers[1::2]}
    functions = {f['name']: f for f in json.load(open(f'profile{slow}.json'))['scenarios'][0]['functions']}
    for name, seconds in truth[slow].items():
        f = functions[name]
        # Four standard errors, and what else is in the gaps.
        assert abs(sum(f['inclusive']) - sum(seconds)) < 2 * f['inclusive_error'] + 0.05 * sum(seconds), (name, f, seconds)
diff = json.load(open('diff.json'))['by_function']
for name in 'assemble', 'solve':
    for slow, side in (1, 'old'), (2, 'new'):
        found, error = diff[name][side], diff[name][side + '_error']
        seconds = sum(truth[slow][name])
        assert abs(found - seconds) < 2 * error + 0.05 * seconds, (name, side, diff[name], seconds)
P

# Rank 1 is late by 0.8 of 2.4 ms per step on average, because of assemble.
"$rubato" advise run1.otf2dir >advice.txt || fail "advise"
# (On a busy machine no saving is known: then the finding names it.)
if grep -q 'No saving is known' advice.txt; then
  grep -q 'called by assemble (app.c:' advice.txt || fail "advise: $(cat advice.txt)"
else
  grep -q 'assemble (app.c:[0-9]*) in half the time' advice.txt || fail "advise names no function: $(cat advice.txt)"
  grep -q 'assemble (app.c:[0-9]*) equally long on all ranks' advice.txt || fail "advise: $(cat advice.txt)"
fi
# Half of a time known by samples is as uncertain, relatively, as that time.
"$rubato" advise run1.otf2dir --on undisturbed --json advice.json >/dev/null || fail "advise"
"$python" - <<'P' || fail "intervals of savings: $(cat advice.json)"
import json
functions = {f['name']: f for f in json.load(open('profile1.json'))['scenarios'][0]['functions']}
error, seconds = functions['assemble']['inclusive_error'], sum(functions['assemble']['inclusive'])
for saved in [c for c in json.load(open('advice.json'))['cures'] if c['kind'] == 'function' and c['name'] == 'assemble']:
    low, high = saved['saved_interval']
    assert error > 0 and (high - low) / 2 >= 0.99 * saved['saved'] * error / seconds, (saved, error, seconds)
P
"$rubato" replay run1.otf2dir --on undisturbed --on 'undisturbed:name=half,region=assemble*0.5' --json half.json >half.txt ||
  fail "replay"
"$python" - <<'P' || fail "region=assemble*0.5: $(cat times1.txt half.txt)"
import json
elapsed = {s['name']: s['elapsed'] for s in json.load(open('half.json'))['scenarios']}
assemble = max(map(float, open('times1.txt').read().split()[0::2]))
# Rank 1 sets the pace.
assert abs(elapsed['undisturbed'] - elapsed['half'] - assemble / 2) < 0.1 * assemble, (elapsed, assemble)
P
"$python" - <<'P' || fail "the cause of waits has no function: $(cat profile1.txt)"
import json
places = json.load(open('profile1.json'))['scenarios'][0]['places']
causes = [c for c in places['causes'] if c['rank'] == 1]
assert places['list'][max(causes, key=lambda c: c['time'])['place']]['function'] == 'burn', causes
P
pass
