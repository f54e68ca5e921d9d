#!/bin/sh
# The laboratory in small (tests/lab/run): 2 programs, 2 ranks, on the given networks. With WORST, each prediction must be
# within WORST per cent of what was measured, beyond the spread of the runs; without it the
# measurements must complete, whatever they show: accuracy depends on what else the machine does. Only with WORST they wait
# for other work on the machine to end.
# ci.sh BUILD_DIR NETWORK[,NETWORK...] [WORST]
set -u
here=$(cd "$(dirname "$0")" && pwd)
repeat=1 patience=0
[ -z "${3:-}" ] || repeat=3 patience=300
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-lab.XXXXXX")
/usr/bin/python3 "$here/run" --work "$work" --build "$1" --flavours openmpi \
  --networks "$2" --programs halo-eager,solver --ranks 2 --repeat "$repeat" --patience $patience \
  --calibrate '--quick --seconds 6' ${3:+--worst "$3"}
code=$?
[ $code = 1 ] || rm -rf "$work"
exit $code
