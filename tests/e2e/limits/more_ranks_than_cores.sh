#!/bin/sh
# The time that ranks on shared cores would take with a core each. The program computes for a given time of its thread's
# CPU clock: in each of 40 steps 6 ms on ranks with an even sum of rank and step, 2 ms on the others; then all
# synchronise. So with a core each, every step takes 6 ms:
#
#   40 * 6 ms = 0.240 s, for any even number of ranks, and what 40 allreduces of 8 bytes take in shared memory
#
# The clock may be read late, by a tick of the scheduler: so in each step the program says what the slowest rank
# really computed by its own clock, and the sum of that is what is known (it is at least the 0.240 s).
#
# 2, 8 and 32 ranks are traced on 2 cores; what replays make of that is within 5 % of what is known: the perfect
# network, one of 1 us, and the recording without what the scheduler took (undisturbed; MPICH's ranks do not yield,
# so an allreduce of 32 waits inside MPI for the time slices of others, which undisturbed keeps).
. "$(dirname "$0")/../lib.sh"
yields=no
grep -qv '^0 0 0$' /proc/self/schedstat 2>/dev/null || skip "this kernel does not count"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static double clock_of(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char** argv) {
  int rank;
  double mine, most, computed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double start = clock_of(CLOCK_MONOTONIC);
  for (int step = 0; step < 40; ++step) {
    const double begin = clock_of(CLOCK_THREAD_CPUTIME_ID);
    const double until = begin + ((rank + step) % 2 == 0 ? 0.006 : 0.002);
    while (clock_of(CLOCK_THREAD_CPUTIME_ID) < until) continue;
    mine = clock_of(CLOCK_THREAD_CPUTIME_ID) - begin;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    computed += most;
  }
  if (rank == 0) printf("seconds %.6f computed %.6f\n", clock_of(CLOCK_MONOTONIC) - start, computed);
  return MPI_Finalize();
}
C
cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | sed 's/\([0-9]*\)-\([0-9]*\)/\1 \2/' |
  awk '{ for (i = $1; i <= (NF > 1 ? $2 : $1) && n < 2; ++i) printf "%s%d", n++ ? "," : "", i }')
case $cores in *,*) ;; *) skip "there is one core" ;; esac
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
run() {
  taskset -c "$cores" "mpirun.$flavour" -n "$@"
}

for _ in 1 2 3; do run 2 ./app; done >untraced.txt 2>err.txt || fail "$(cat err.txt)"
for ranks in 2 8 32; do
  rm -rf "run-$ranks.otf2dir"
  run $ranks "$rubato" trace -o "run-$ranks.otf2dir" ./app >"traced-$ranks.txt" 2>err.txt || fail "$(cat err.txt)"
  "$rubato" replay "run-$ranks.otf2dir" --on measured --on undisturbed --on perfect \
    --on bandela:latency=1us,bandwidth=10GB/s,name=near --json "replay-$ranks.json" >replay.txt 2>&1 ||
    fail "$(cat replay.txt)"
done
"$python" - "$cores" "$flavour" <<'P' >check.txt 2>&1 || fail "$(cat check.txt)"
import json, sys
cores, flavour = sys.argv[1:]
wrong = []
for ranks in 2, 8, 32:
    found = {s["name"]: s["elapsed"] for s in json.load(open(f"replay-{ranks}.json"))["scenarios"]}
    known = next(float(line.split()[3]) for line in open(f"traced-{ranks}.txt") if line.startswith("seconds"))
    assert 40 * 0.006 <= known < 1.2 * 40 * 0.006, known
    predicted = {name: seconds for name, seconds in found.items() if name != "measured"}
    print(f"{ranks} ranks on cores {cores}: known {known:.4f} s, recorded {found['measured']:.3f} s;",
          *(f"{name} {seconds:.4f} s ({100 * (seconds / known - 1):+.1f} %)" for name, seconds in predicted.items()))
    if (flavour, ranks) == ("mpich", 32):
        del predicted["undisturbed"]
    wrong += [(ranks, name) for name, seconds in predicted.items() if abs(seconds / known - 1) > 0.05]
    # The ranks did share cores: this test is of no use otherwise.
    assert ranks == 2 or found["measured"] > 1.5 * known, "no rank shared a core?"
untraced = sorted(float(line.split()[1]) for line in open("untraced.txt") if line.startswith("seconds"))
print("2 ranks without Rubato:", untraced)
# Other programs may have used the cores, and no rank runs faster than the clock.
assert len(untraced) == 3 and untraced[0] > 0.99 * 40 * 0.006, untraced
sys.exit(f"not within 5 %: {wrong}" if wrong else 0)
P
[ -z "${SHOW-}" ] || cat check.txt
pass
