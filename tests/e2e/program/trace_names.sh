#!/bin/sh
# Names that are not UTF-8 are converted from Latin-1 in the archive, so that every reader opens it: names of
# communicators, windows and functions, the command line, and copied archives. Also empty, long and unusual names, from
# Fortran too.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
void grun(void) __asm__("gr\xfcn");
void __attribute__((noinline)) grun(void) { MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char** argv) {
  int x = 1, y, i, *memory;
  char long_name[MPI_MAX_OBJECT_NAME];
  const char* names[] = {"gr\xfcn", "gr\xc3\xbcn", "a\nb\tc\x1b[1m\x7f", "\xed\xa0\x80", "\xff\xfe", "", "half \xc3"};
  MPI_Comm comm;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  grun();
  for (i = 0; i < 8; ++i) {
    memset(long_name, 0xe9, sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, i < 7 ? names[i] : long_name);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
    MPI_Win_allocate(sizeof x, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_set_name(win, i < 7 ? names[i] : long_name);
    if (argc > 2 && i == 7) kill(getpid(), SIGKILL);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
  }
  return MPI_Finalize();
}
C
export OMPI_MCA_osc=sm,pt2pt # what Open MPI 4 takes by itself has no windows on a lone node
build_program app -g -finstrument-functions
latin=$(printf 'stra\337e')
mkdir "$latin"
cp app "$latin/app"
# check ARCHIVE: what python3-otf2 reads. 0xfc is U+00FC in Latin-1; 0xc3 0xbc is that in UTF-8, and stays. U+D800 is no
# character, so its three bytes are three.
check_names() {
  otf2-print -Werror --silent "$1/traces.otf2" >check.txt 2>&1 || fail "$1: otf2-print: $(cat check.txt)"
  "$python" - "$1" <<'P' || fail "$1: names"
import otf2, sys
wanted = {"grün", "a\nb\tc\x1b[1m\x7f", "\xed\xa0\x80", "ÿþ", "half Ã"}
with otf2.reader.open(sys.argv[1] + "/traces.otf2") as trace:
    comms = {c.name for c in trace.definitions.comms if c.name}
    windows = {w.name for w in trace.definitions.rma_wins if w.name}
    assert wanted <= comms and wanted <= windows, (comms, windows)
    longest = max(comms, key=len)
    assert set(longest) == {"é"} and len(longest) >= 63, longest
    assert sum(1 for _ in trace.events) > 100
P
  "$rubato" info "$1" >out.txt || fail "info: $(cat out.txt)"
}
trace 2 --functions --call-sites "./$latin/app" "$latin" 2>err.txt || fail "exit code $?: $(cat err.txt)"
check_names run.otf2dir
otf2-print -I run.otf2dir/traces.otf2 | grep -A1 RUBATO::COMMAND | grep -q 'straße/app straße' ||
  fail "$(otf2-print -I run.otf2dir/traces.otf2 | grep -A1 RUBATO::COMMAND)"
# A copy of it.
"$rubato" replay run.otf2dir --on measured --otf2 copies >out.txt 2>&1 || fail "replay --otf2: $(cat out.txt)"
check_names copies/measured
# For a killed run.
trace 2 "./$latin/app" "$latin" kill >out.txt 2>err.txt && fail "exit code 0"
recover_ended
check_names run.otf2dir
pass
