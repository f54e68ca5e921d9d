#!/bin/sh
# The virtual laboratory in small (tests/lab/virtual/run): each time, measured and predicted, is as in small.csv, to 0.1 %.
# From samples with 1 to 3 % of noise, 95 % of the intervals hold, with a median half-width of 5 % at most.
# Where a change of Rubato changes a prediction, the commit that makes it says why and brings the new file:
#   small.sh BUILD_DIR --csv tests/lab/virtual/small.csv
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
if [ $# = 0 ]; then
  set -- --compare "$here/small.csv"
  # Another version of SimGrid may have another network.
  case $(smpirun --version 2>/dev/null) in
  *" 3.32"*) ;;
  *) echo "SKIP the virtual laboratory: small.csv is of SimGrid 3.32" && exit 77 ;;
  esac
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-virtual.XXXXXX")
trap 'rm -rf "$work"; exit 1' INT TERM HUP
lab() {
  /usr/bin/python3 -B "$here/run" --work "$work" --build "$build" --networks 1GB-20us,125MB-80us,factors \
    --programs halo-persistent,master-worker,overlap,solver,in-place,lu,late-receivers,probes,empty-parts,user-operation,strided \
    --ranks 4,16 --calibration-ranks 4 --seconds 1 --patterns headtohead,ring,halo_nonblocking "$@"
}
lab "$@" && lab --noise 7 --bars 95,5
code=$?
[ $code = 1 ] || rm -rf "$work"
exit $code
