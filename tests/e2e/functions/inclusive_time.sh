#!/bin/sh
# Functions with the functions that they call: assemble() takes long on rank 1 because it calls burn() there, which all
# ranks call elsewhere as often. Exclusive and inclusive times equal those of a walk over the archive by python3-otf2;
# the verdict names the call path; `advise` predicts what balancing assemble() really gives.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
__attribute__((no_instrument_function)) static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void burn(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {}
}
static void part(int depth) {
  burn(0.0005);
  if (depth > 0) part(depth - 1);
}
static void assemble(int parts) {
  for (int i = 0; i < parts; ++i) burn(0.001);
}
static void solve(int parts) {
  part(2);
  for (int i = 0; i < parts; ++i) burn(0.001);
}
int main(int argc, char** argv) {
  int rank;
  const int balanced = argc > 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  burn(0.002);
  for (int step = 0; step < 5; ++step) {
    assemble(balanced ? 20 : rank == 1 ? 35 : 5);
    MPI_Barrier(MPI_COMM_WORLD);
    solve(rank == 1 ? 15 : 30);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
C
build_program app -g -finstrument-functions
trace 2 --functions ./app || fail "exit code $?"
check_archive

"$rubato" profile run.otf2dir --json profile.json >/dev/null || fail "profile"
"$python" - <<'P' || fail "functions"
import collections, json
import otf2
from otf2 import events

# By rank and function: ticks between MPI calls in which it is the innermost function, and in which it is open. Time
# without a core is taken from the functions of its gap in proportion.
exclusive, inclusive = collections.Counter(), collections.Counter()
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    lost = next((a for a in trace.definitions.attributes if a.name == 'RUBATO_STOLEN'), None)
    second = trace.timer_resolution
    stack, since, gap, begin, counts = {}, {}, {}, {}, {}

    def compute_ends(rank, event, now):
        """The gap between two calls, or flushes, ends: its parts count, less what was lost in it."""
        stolen = (event.attributes or {}).get(lost, 0) / 1e9 * second
        length = now - begin.get(rank, now)
        left = max(0, 1 - stolen / length) if length else 1
        for functions, ticks in gap.pop(rank, []):
            if not counts.get(rank) or not functions:
                continue
            exclusive[rank, functions[-1]] += ticks * left
            for function in set(functions):
                inclusive[rank, function] += ticks * left

    for location, event in trace.events:
        if not isinstance(event, (events.Enter, events.Leave, events.BufferFlush)):
            continue
        rank, now = location.group.name, event.time
        here = stack.setdefault(rank, [])
        if rank in since and not any(name.startswith('MPI_') for name in here):
            gap.setdefault(rank, []).append((tuple(here), now - since[rank]))
        since[rank] = now
        if isinstance(event, events.BufferFlush):
            if not any(name.startswith('MPI_') for name in here):
                compute_ends(rank, event, now)
                begin[rank] = since[rank] = event.stop_time
            continue
        name = event.region.name
        is_mpi = name.startswith('MPI_')
        if isinstance(event, events.Enter):
            if is_mpi:
                compute_ends(rank, event, now)
            here.append(name)
            if name == 'MPI_Finalize':
                counts[rank] = False
        else:
            here.pop()
            if is_mpi:
                begin[rank] = now
            if name.startswith('MPI_Init'):
                counts[rank] = True

functions = json.load(open('profile.json'))['scenarios'][0]['functions']
ranks = sorted({rank for rank, _ in inclusive}, key=lambda rank: int(rank.split()[-1]))
assert len(ranks) == 2, ranks
names = set()
for function in functions:
    if function['name'] is None:
        continue
    names.add(function['name'])
    for number, rank in enumerate(ranks):
        for seconds, ticks in ((function['compute'][number], exclusive[rank, function['name']]),
                               (function['inclusive'][number], inclusive[rank, function['name']])):
            assert abs(seconds - ticks / second) < 2e-6 + 1e-4 * seconds, (function, rank, ticks / second)
assert names == {'burn', 'part', 'assemble', 'solve'}, names
by_name = {function['name']: function for function in functions}
# 5 x 35 ms less what its loop takes; part() calls itself twice, and counts once: 5 x 1.5 ms.
assert by_name['assemble']['compute'][1] < 0.01 and by_name['assemble']['inclusive'][1] > 0.17, by_name['assemble']
assert 0.0074 < by_name['part']['inclusive'][0] < 0.02, by_name['part']
assert by_name['part']['calls'] == 2 * 5 * 3, by_name['part']
assert by_name['burn']['calls'] == 5 * (5 + 35 + 30 + 15 + 2 * 3) + 2, by_name['burn']
P

"$rubato" replay run.otf2dir >replay.txt || fail "replay"
tr '\n' ' ' <replay.txt | tr -s ' ' | grep -qF 'in burn (app.c:9), called by assemble (app.c:17)' ||
  fail "the call path is not named: $(cat replay.txt)"

# Two processes, with a rank each, find the same mean.
balance="--only --on perfect:region=assemble=mean --on perfect"
# shellcheck disable=SC2086
"$rubato" replay run.otf2dir $balance --json one.json >/dev/null || fail "replay"
# shellcheck disable=SC2086
run 2 "$rubato" replay run.otf2dir $balance --json two.json >/dev/null || fail "replay by two processes"
cmp one.json two.json || fail "two processes differ from one"

# Really balanced: both ranks assemble for 20 ms instead of 5 and 35. 5 x 15 ms are saved, of 5 x (35 + 30); on perfect,
# without what other programs took.
"$rubato" advise run.otf2dir --json advice.json >advice.txt || fail "advise"
"$rubato" advise run.otf2dir --on perfect --json perfect.json >perfect.txt || fail "advise"
trace 2 --functions ./app balanced || fail "exit code $?"
"$rubato" replay run.otf2dir --only --on perfect --json balanced.json >/dev/null || fail "replay"
"$python" - <<'P' || fail "balance: $(cat advice.txt)"
import json
for name in 'advice.json', 'perfect.json':
    advice = json.load(open(name))
    cure, = [c for c in advice['cures'] if c['kind'] == 'function_balance' and c['name'] == 'assemble']
    equal, = [c for c in advice['cures'] if c['kind'] == 'balance'] or [{'saved': 0}]
    if cure['saved'] is None:
        continue  # ranks lacked cores: no saving on the recorded machine is known
    low, high = cure['saved_interval']
    print(f"{advice['scenario']}: assemble {cure['saved']:.4f} s [{low:.4f}, {high:.4f}], equal compute {equal['saved']:.4f}")
    assert 0.070 < low < cure['saved'] < high < 0.085, cure
    assert equal['saved'] < cure['saved'] / 2, equal
really = advice['elapsed'] - json.load(open('balanced.json'))['scenarios'][0]['elapsed']
print(f'really {really:.4f} s')
assert abs(really / cure['saved'] - 1) < 0.05, really
P
pass
