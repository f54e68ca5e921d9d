#!/bin/sh
# Each MPI call says which line of the program makes it, when asked to: in C, in Fortran, with and without
# debug information, recovered too.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
static int ring(int rank, int size) {
  int x = rank, y;
  MPI_Request r;
  MPI_Irecv(&y, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r);
  MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  return y;
}
int main(int argc, char** argv) {
  int rank, size, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 5; ++i) n = ring(rank, size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && rank == 0) kill(getpid(), SIGKILL);
  if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C

# sites FILE: which calls carry which place, one "CALL FILE:LINE COUNT" a line.
cat >sites.py <<'P'
import collections, os, otf2
count = collections.Counter()
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    for location, event in trace.events:
        if not isinstance(event, otf2.events.Enter):
            continue
        place = 'none'
        for attribute, value in (event.attributes or {}).items():
            if attribute.name == 'RUBATO_CALL_SITE':
                place = f'{os.path.basename(value.file)}:{value.line_number}'
        count[event.region.name, place] += 1
for (name, place), number in sorted(count.items()):
    print(name, place, number)
P
cat >wanted.txt <<'W'
MPI_Barrier app.c:18 3
MPI_Barrier app.c:19 6
MPI_Comm_rank app.c:15 3
MPI_Comm_size app.c:16 3
MPI_Finalize app.c:22 3
MPI_Init app.c:14 3
MPI_Irecv app.c:7 15
MPI_Send app.c:8 15
MPI_Wait app.c:9 15
W
sites() {
  "$python" sites.py >sites.txt 2>python.txt || fail "$(cat python.txt)"
}
build_program app -g -fno-inline
trace 3 --call-sites ./app || fail "exit code $?"
check_archive
check_replay
sites
diff wanted.txt sites.txt || fail "call sites"
[ "$(otf2-print -G run.otf2dir/traces.otf2 | grep -c '^SOURCE_CODE_LOCATION')" = 9 ] || fail "places are not unified"

# With the functions; a killed program.
build_program app -g -fno-inline -finstrument-functions
trace 3 --call-sites --functions ./app die >out.txt 2>err.txt && fail "exit code 0"
recover_ended
check_archive
check_replay
sites
grep -vE 'MPI_Finalize|MPI_Barrier' wanted.txt >before.txt
grep '^MPI_' sites.txt | grep -vE 'MPI_Finalize|MPI_Barrier' | diff before.txt - || fail "recovered call sites"
grep -q '^ring none 15$' sites.txt || fail "functions: $(cat sites.txt)"

# A machine without libdw: what is found in its place is no library.
mkdir none
: >none/libdw.so.1
build_program app -g -fno-inline
LD_LIBRARY_PATH=$work/none${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} trace 3 --call-sites ./app || fail "exit code $?"
check_archive
sites
grep -qE '^MPI_Send app \(ring\+0x[0-9a-f]+\):0 15$' sites.txt || fail "$(cat sites.txt)"

# Without debug information: function and offset, or the file's offset.
build_program app -fno-inline
trace 3 --call-sites ./app || fail "exit code $?"
check_archive
sites
grep -qE '^MPI_Send app \(ring\+0x[0-9a-f]+\):0 15$' sites.txt || fail "$(cat sites.txt)"
grep -qE '^MPI_Init app \(main\+0x[0-9a-f]+\):0 3$' sites.txt || fail "$(cat sites.txt)"
strip app
trace 3 --call-sites ./app || fail "exit code $?"
sites
grep -qE '^MPI_Send app\+0x[0-9a-f]+:0 15$' sites.txt || fail "$(cat sites.txt)"

# Without the option.
trace 3 ./app || fail "exit code $?"
sites
[ "$(grep -vc ' none ' sites.txt)" = 0 ] || fail "call sites though not asked for"
otf2-print -G run.otf2dir/traces.otf2 | grep -q 'SOURCE_CODE_LOCATION\|RUBATO_CALL_SITE' && fail "definitions though not asked for"

command -v gfortran >/dev/null && command -v "mpif90.$flavour" >/dev/null || { pass; exit 0; }
cat >fortran.f90 <<'F'
program fortran
  use mpi
  integer :: rank, size, error, x
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  x = rank
  call MPI_Sendrecv_replace(x, 1, MPI_INTEGER, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
F
build_fortran fortran -g
trace 2 --call-sites ./fortran || fail "exit code $?"
check_archive
sites
cat >wanted.txt <<'W'
MPI_Barrier fortran.f90:9 2
MPI_Comm_rank fortran.f90:5 2
MPI_Comm_size fortran.f90:6 2
MPI_Sendrecv_replace fortran.f90:8 2
W
# Their overhead, outside of a call, is in the archive; there are no functions.
otf2-print -I run.otf2dir/traces.otf2 >info.txt
grep -q "RUBATO::OVERHEAD_CALL_SITE" info.txt || fail "nothing says what a call site costs"
cost=$(grep -A1 'RUBATO::OVERHEAD_CALL_SITE' info.txt | awk 'END { print $NF }')
awk -v cost="$cost" 'BEGIN { exit !(cost >= 0 && cost < 1e-5) }' || fail "a call site costs '$cost' s"
! grep -q 'RUBATO::OVERHEAD_FUNCTION' info.txt || fail "functions cost something, and are not recorded"
# gfortran 12 says of calls with an error code alone that they are in the program's first line.
grep -vE 'MPI_(Init|Finalize) fortran.f90' sites.txt | diff wanted.txt - || fail "call sites in Fortran"
sed -i 's/use mpi$/use mpi_f08/' fortran.f90
if build_fortran fortran -g 2>error.txt; then
  trace 2 --call-sites ./fortran || fail "exit code $?"
  sites
  grep -vE 'MPI_(Init|Finalize) fortran.f90' sites.txt | diff wanted.txt - || fail "call sites in Fortran 2008"
fi
pass
