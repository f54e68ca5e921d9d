#!/bin/sh
# share/papers/tau: the overhead that recording a worker's functions causes goes from the worker and from the
# master with parallel compensation; with local compensation the master keeps it. TAU_EXCHANGES names other ways for packets to travel (tau -x).
# The machine may have other work, and its speed changes: the least that each column took counts, of as many
# repeats as it takes. How near parallel comes shows on a machine at rest (share/doc/papers.md).
. "$(dirname "$0")/../lib.sh"
root=$(cd "$tests/.." && pwd)
export RUBATO="$rubato" MPICC="mpicc.$flavour" MPIRUN="mpirun.$flavour"

# holds EXCHANGE: by all repeats so far.
holds() {
  "$python" - "$1" experiments/*/"$1".tsv <<'P'
import sys
least = {}
for path in sys.argv[2:]:
    for line in list(open(path))[1:]:
        _, column, seconds = line.rstrip('\n').split('\t')
        for role, value in zip(('master', 'worker'), map(float, seconds.split())):
            least[role, column] = min(least.get((role, column), 1e9), value)
print(sys.argv[1], least, file=sys.stderr)
def ratio(role, column, other):
    return least[role, column] / least[role, other]
sys.exit(not all((
    # Recording costs a good part of the run, which parallel compensation takes out of both.
    ratio('worker', 'none', 'untraced') > 1.5,
    ratio('worker', 'parallel', 'none') < 0.9,
    ratio('master', 'parallel', 'none') < 0.9,
    ratio('worker', 'local', 'none') < 0.9,
    # Local compensation leaves the master wrong; one that polls loses what its own polls cost.
    sys.argv[1] == 'test' or ratio('master', 'local', 'none') > 0.95,
)))
P
}

mkdir experiments
for exchange in ${TAU_EXCHANGES-send}; do
  repeats=0
  until [ $repeats -ge 1 ] && holds "$exchange"; do
    repeats=$((repeats + 1))
    [ $repeats -le 12 ] || fail "$exchange: see above"
    "$root/share/papers/tau" -r 1 -s 16 -x "$exchange" experiments/"$exchange-$repeats" >table.txt 2>&1 || fail "$(cat table.txt)"
  done
done
pass
