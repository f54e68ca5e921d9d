#!/bin/sh
# 'rubato doctor' starts a traced process of this MPI library; says what is missing, and exits with 1 where nothing can be
# traced: without a mpirun, and without a tracer that answers.
. "$(dirname "$0")/lib.sh"
mkdir tmp
export TMPDIR=$PWD/tmp # the test of the other MPI may run at the same time
command -v "mpirun.$flavour" >/dev/null || skip "there is no mpirun.$flavour"
title=$([ "$flavour" = openmpi ] && echo "Open MPI" || echo MPICH)

"$rubato" doctor >doctor.txt || fail "doctor: $(cat doctor.txt)"
grep -Eq "^ok +$title +$(command -v "mpirun.$flavour") starts a traced" doctor.txt || fail "doctor: $(cat doctor.txt)"
for check in memory counters clock cores leftovers; do
  grep -Eq "^(ok|warn)  +$check " doctor.txt || fail "no $check: $(cat doctor.txt)"
done
[ -z "$(awk 'length > 100' doctor.txt)" ] || fail "wider than 100 columns: $(cat doctor.txt)"
# The kernel's own numbers.
grep -q "^[a-z]*  *cores  *$(nproc) processor" doctor.txt || fail "not $(nproc) processors: $(cat doctor.txt)"
grep -q "perf_event_paranoid = $(cat /proc/sys/kernel/perf_event_paranoid)" doctor.txt || fail "$(cat doctor.txt)"

"$rubato" doctor --json - >doctor.json || fail "doctor --json"
$python - <<PYTHON || fail "$(cat doctor.json)"
import json
data = json.load(open("doctor.json"))
checks = {check["name"]: check for check in data["checks"]}
assert data["format"] == 1 and checks["$title"]["state"] == "ok", data
assert {"memory", "counters", "clock", "cores", "leftovers"} <= set(checks), data
assert all(check["state"] in ("ok", "warn", "fail") and check["found"] for check in checks.values())
PYTHON

# An installation without parts of this library, and without a mpirun.
mkdir -p empty/bin broken/bin broken/lib/rubato none
cp "$rubato" empty/bin
# cannot_trace TEXT COMMAND...: it exits with 1 and says TEXT, which may be wrapped.
cannot_trace() {
  text=$1
  shift
  code=0
  "$@" >out.txt 2>&1 || code=$?
  [ "$code" = 1 ] || fail "'$*' exited with $code, not 1: $(cat out.txt)"
  tr -s ' \n' ' ' <out.txt | grep -qF "$text" || fail "'$*' does not say '$text': $(cat out.txt)"
}
cannot_trace "but no tracer in $work/empty" empty/bin/rubato doctor
cannot_trace "install the package rubato-$flavour" empty/bin/rubato doctor
cannot_trace "fail $title a tracer, but no mpirun" /usr/bin/env PATH="$work/none" "$rubato" doctor
# A tracer that does not record: an empty library in its place.
lib=$(dirname "$(find "$build" -name "librubato-trace-$flavour.so" | head -1)")
cp "$rubato" broken/bin
echo 'int nothing;' >nothing.c
mkdir -p "broken/${lib#"$build"/}"
cc -shared -fPIC -o "broken/${lib#"$build"/}/librubato-trace-$flavour.so" nothing.c
cp "$lib/librubato-mpi-$flavour.so" "broken/${lib#"$build"/}"
cannot_trace "the preloaded tracer recorded nothing" broken/bin/rubato doctor
# Nothing is left behind.
[ -z "$(find tmp -maxdepth 1 -name 'rubato-doctor-*')" ] || fail "temporary files are left"
pass
