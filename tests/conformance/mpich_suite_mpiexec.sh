#!/bin/sh
# What the suite's runtests takes for mpiexec: the real one ($SUITE_MPIEXEC), with a library preloaded
# if $SUITE_PRELOAD names one, whose output goes on without the tracer's own lines. The suite fails a
# test for any line it does not know, and what the tracer says on standard error is no error of the
# program. Both are kept, in $SUITE_OUTPUT(.tracer).
[ -z "${SUITE_PRELOAD-}" ] || export LD_PRELOAD="$SUITE_PRELOAD"
"$SUITE_MPIEXEC" "$@" >"$SUITE_OUTPUT" 2>&1
code=$?
unset LD_PRELOAD
grep '^rubato: ' "$SUITE_OUTPUT" >"$SUITE_OUTPUT.tracer"
grep -v '^rubato: ' "$SUITE_OUTPUT"
exit $code
