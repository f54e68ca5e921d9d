#!/bin/sh
# The mpiexec for the suite's runtests: the real one ($SUITE_MPIEXEC), with the library $SUITE_PRELOAD preloaded, if
# set, and with the tracer's own lines removed from the output: the suite fails a test for any unknown line, but lines
# of the tracer on standard error are no errors of the program. Both outputs are kept, in $SUITE_OUTPUT(.tracer).
[ -z "${SUITE_PRELOAD-}" ] || export LD_PRELOAD="$SUITE_PRELOAD"
"$SUITE_MPIEXEC" "$@" >"$SUITE_OUTPUT" 2>&1
code=$?
unset LD_PRELOAD
grep '^rubato: ' "$SUITE_OUTPUT" >"$SUITE_OUTPUT.tracer"
grep -v '^rubato: ' "$SUITE_OUTPUT"
exit $code
