#!/bin/sh
# libotf2 crashes on some damaged archives: then one line names what it decoded, the exit code is 1, and no file stays
# half-written. Here a library crashes in its place.
. "$(dirname "$0")/../lib.sh"
"${CC:-cc}" -shared -fPIC -o crash.so -x c - <<'C' || fail "the crashing library"
int OTF2_Reader_ReadLocalEvents(void* reader, void* events, unsigned long most, unsigned long* read) {
  (void)reader, (void)events, (void)most, (void)read;
  return *(volatile int*)8;
}
C
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
C
trace 2 ./app || fail "exit code $?"
code=0
LD_PRELOAD=$PWD/crash.so "$rubato" replay run.otf2dir --json run.json \
  >out.txt 2>err.txt || code=$?
[ $code -eq 1 ] || fail "exit code $code: $(cat err.txt)"
[ "$(wc -l <err.txt)" -eq 1 ] || fail "$(cat err.txt)"
grep -qE "^rubato: error: run.otf2dir/traces.otf2: reading the events of location [0-9]+ crashed \(SIGSEGV\)" err.txt ||
  fail "$(cat err.txt)"
[ -z "$(find . -name '*.part*' -o -name run.json)" ] || fail "left behind: $(find . -name '*.part*' -o -name run.json)"
pass
