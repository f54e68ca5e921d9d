#!/bin/sh
# Samples of compute: the time of functions agrees with the processor time that the program itself measures, nothing is
# sampled inside MPI, sleeping is not interrupted, the program's own timer works, and the signal is given back.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
static volatile int ticks;
static void on_tick(int signal) { ++ticks; }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static volatile double sink;
#define WORK for (int i = 0; i < 20000; ++i) sink += i
/* Each returns its processor time. */
__attribute__((noipa)) double burn(double seconds) {
  const double begin = now();
  while (now() < begin + seconds) WORK;
  return now() - begin;
}
__attribute__((noipa)) double slow(void) { return burn(0.9) + 0 * sink; }
__attribute__((noipa)) double quick(void) { return burn(0.3) + 0 * sink; }
int main(int argc, char** argv) {
  int rank, free_before = 0, free_after = 0;
  double times[2] = {0, 0};
  struct sigaction action;
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) {
    sigaction(s, 0, &action);
    free_before += action.sa_handler == SIG_DFL;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGPROF, on_tick);
  const struct itimerval often = {{0, 20000}, {0, 20000}};
  setitimer(ITIMER_PROF, &often, 0);
  if (rank == 0) {
    times[0] = slow();
    times[1] = quick();
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, 0);
  MPI_Barrier(MPI_COMM_WORLD); /* rank 1 waits 1.2 s */
  const struct timespec nap = {0, 200000000};
  const int slept = nanosleep(&nap, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) {
    sigaction(s, 0, &action);
    free_after += action.sa_handler == SIG_DFL;
  }
  if (rank == 0) printf("%.4f %.4f\n", times[0], times[1]);
  if (rank == 0 && ticks < 5) printf("only %d ticks\n", ticks);
  if (slept != 0) printf("interrupted: %d\n", errno);
  if (free_before != free_after) printf("signals: %d %d\n", free_before, free_after);
  return 0;
}
C
build_program app -O2 -g
trace 2 --sample 1ms --call-paths ./app >out.txt || fail "exit code $?"
[ "$(wc -l <out.txt)" = 1 ] || fail "the program was disturbed: $(cat out.txt)"
check_archive
check_replay
otf2-print -G run.otf2dir/traces.otf2 >defs.txt
grep '^INTERRUPT_GENERATOR' defs.txt | grep -q 'Mode: TIME.*Base: DECIMAL.*Exponent: -9.*Period: 1000000' ||
  fail "$(grep '^INTERRUPT' defs.txt)"
"$rubato" profile run.otf2dir --all --json profile.json --csv profile.csv >profile.txt || fail "profile"
"$python" - <<'P' || fail "samples: $(cat out.txt profile.txt)"
import json, math, otf2
slow, quick = map(float, open('out.txt').read().split())
functions = {f['name']: f for f in json.load(open('profile.json'))['scenarios'][0]['samples']}
for name, seconds in ('slow', slow), ('quick', quick), ('burn', slow + quick):
    f = functions[name]
    # A sample counts for whole periods, at least for a tick of the kernel: one more or less at either end, and four
    # standard deviations of Poisson's law.
    allowed = 0.02 + 4 * seconds / math.sqrt(f['inclusive_samples'])
    assert abs(f['inclusive'][0] - seconds) < allowed, (name, f, seconds)
    assert f['inclusive'][1] < 0.05, (name, f)  # rank 1 does not compute
assert functions['burn']['exclusive'][0] > 10 * functions['slow']['exclusive'][0], functions
assert functions['main']['inclusive'][0] > functions['slow']['inclusive'][0] + functions['quick']['inclusive'][0] - 1e-9
# The recorded paths, by OTF2's own reader. The dynamic linker cannot be unwound everywhere: its first call of a function
# may hide the callers.
total = hidden = everything = 0
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    for location, event in trace.events:
        if isinstance(event, otf2.events.CallingContextSample):
            periods = {k.name: v for k, v in (event.attributes or {}).items()}.get('RUBATO_PERIODS', 1)
            names, context = [], event.calling_context
            while context is not None:
                names.append(context.region.name)
                context = context.parent
            everything += periods
            if names[-1] != 'main':
                assert names[-1].startswith('ld-'), names
                hidden += periods
            if 'slow' in names:
                total += periods
assert hidden <= 0.02 * everything, (hidden, everything)
assert abs(total * 1e-3 - functions['slow']['inclusive'][0]) < 1e-6, total
P
grep -q 'efficiencies by function, from .* samples' profile.txt || fail "$(cat profile.txt)"
grep -q '^measured,sample_inclusive,slow' profile.csv || fail "$(grep sample profile.csv)"
# The first lines name the function that delays all others, without compiler instrumentation.
"$rubato" replay run.otf2dir >verdict.txt || fail "replay"
grep -q 'in burn (app.c' verdict.txt || fail "no function is named: $(cat verdict.txt)"

# Options.
for bad in 1 1h 1us 2s -1ms nan; do
  expect_failure 2 "--sample $bad: expected a time" "$rubato" trace --sample="$bad" ./app
done
# Samples without call paths: calls have none.
trace 2 --sample 500us ./app >out.txt || fail "exit code $?"
check_archive
otf2-print run.otf2dir/traces.otf2 | grep -q RUBATO_CALL_PATH && fail "call paths though not asked for"
expect 0 '^CALLING_CONTEXT_ENTER'
[ "$(count '^CALLING_CONTEXT_SAMPLE')" -gt 50 ] || fail "too few samples"
pass
