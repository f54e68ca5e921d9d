#!/bin/sh
# What the tracer gathers at the end arrives whole if it takes several calls of MPI: from 1 to 59 bytes at a time, of four
# ranks with 0, 17, 34 and 1.
. "$(dirname "$0")/../lib.sh"
run 4 "$build/tests/gather_check_$flavour" >out.txt 2>&1 || fail "$(cat out.txt)"
[ "$(grep -c '^rank [0-3]: good$' out.txt)" = 4 ] || fail "$(cat out.txt)"
pass
