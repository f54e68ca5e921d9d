#!/bin/sh
# The laboratory in small (tests/lab/run): 2 networks or more, 2 programs, 2 ranks; each prediction from one network for
# another within 15 % of what was measured, beyond the spread of the runs. ci.sh BUILD_DIR NETWORK,NETWORK...
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-lab.XXXXXX")
/usr/bin/python3 "$here/run" --work "$work" --build "$1" --flavours openmpi \
  --networks "$2" --programs halo-eager,solver --ranks 2 --repeat 3 --patience 300 \
  --calibrate '--quick --seconds 6' --worst 15
code=$?
[ $code = 1 ] || rm -rf "$work"
exit $code
