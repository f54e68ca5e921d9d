#!/bin/sh
# rubato trace --counters: what the program and MPI count is on record apart, by thread, in C and Fortran, by the
# kernel's events and by PAPI. Judges: getrusage() and the thread's clock in the program, and python3-otf2.
. "$(dirname "$0")/../lib.sh"
cp "$here/trace_counters.c" app.c
build_program app -pthread
counters=perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::TASK-CLOCK
"$rubato" trace -o try.otf2dir --counters $counters true >try.txt 2>&1 || true
! grep -q 'does not let this user' try.txt || skip "$(cat try.txt)"

check() { "$python" "$here/trace_counters.py" run.otf2dir judge.txt "$@" >sums.txt || fail "$(cat sums.txt judge.txt)"; }
trace 2 --counters $counters ./app 2>judge.txt
check_archive
check
[ "$(cat files.txt)" = 0 ] || fail "a program that the program executes has the files of counters"
"$rubato" replay run.otf2dir --on measured --verify >verify.txt 2>&1 || fail "$(cat verify.txt)"
# rubato profile sums the same.
"$rubato" profile run.otf2dir --csv rows.csv --json rows.json >profile.txt 2>&1 || fail "$(cat profile.txt)"
"$python" - <<'P' || fail "see above"
import csv, json
expected = {}
for line in open('sums.txt'):
    rank, name, program, mpi = line.split()
    expected['counter ' + name, rank], expected['counter_mpi ' + name, rank] = int(program), int(mpi)
found = {}
for row in csv.DictReader(open('rows.csv')):
    if row['kind'].startswith('counter'):
        key = row['kind'], row['rank']
        found[key] = found.get(key, 0) + float(row['value'])
assert {key: value for key, value in expected.items() if value} == found, (expected, found)
ranks = json.load(open('rows.json'))['counters']['ranks']
assert ranks[1]['program']['perf::PAGE-FAULTS'] == expected['counter perf::PAGE-FAULTS', '1'], ranks
P

# With call paths, places have them: all work is in work(), before its Barrier.
build_program app -g -pthread
trace 2 --call-paths --counters $counters ./app 2>judge.txt
check
"$rubato" profile run.otf2dir --csv rows.csv >profile.txt 2>&1 || fail "$(cat profile.txt)"
tr -s ' \n' ' ' <profile.txt | grep -Eq 'work \(app\.c:[0-9]+\) > before MPI_Barrier \(app\.c:[0-9]+\) [0-9]' ||
  fail "no place with its function: $(cat profile.txt)"
[ -z "$(grep ',counter' rows.csv | cut -d, -f1-4 | sort | uniq -d)" ] || fail "rows of the same place: $(cat rows.csv)"
grep -q 'main .* > again .* > before MPI_Barrier' rows.csv || fail "nothing in again(): $(cat rows.csv)"
for rank in 0 1; do
  expected=$(awk -v rank=$rank '$1 == "judge" && $2 == rank { print $3 }' judge.txt)
  found=$(awk -F, -v rank=$rank '$2 == "counter perf::PAGE-FAULTS" && $4 == rank && $3 ~ /^main .* > work .* > before MPI_Barrier/ {
    n += $7 } END { print n + 0 }' rows.csv)
  [ "$found" -ge "$expected" ] && [ "$found" -le $((expected + 20)) ] ||
    fail "rank $rank: $found page faults in work(), not $expected: $(cat rows.csv)"
done

# A thread counts for itself.
trace 1 --counters $counters ./app thread 2>judge.txt
check_archive
check 1

# A killed program: what was counted can be recovered.
trace 1 --counters $counters ./app die >judge.txt 2>&1 || true
"$rubato" recover run.otf2dir >recover.txt 2>&1 || fail "$(cat recover.txt)"
check

# With functions, each has its counts: all pages are touched in touch(), 10 in each of 20 rounds of rank 0.
build_program app -pthread -finstrument-functions -finstrument-functions-exclude-function-list=cpu,faults,switches,new_pages
trace 1 --functions --counters $counters ./app 2>judge.txt
check_archive
"$rubato" profile run.otf2dir --csv rows.csv >profile.txt 2>&1 || fail "$(cat profile.txt)"
touched=$(awk -F, '$2 == "counter perf::PAGE-FAULTS" && /touch/ { n += $7 } END { print n + 0 }' rows.csv)
[ "$touched" -ge 200 ] && [ "$touched" -le 210 ] || fail "touch() has $touched page faults, not 200: $(cat rows.csv)"

if command -v gfortran >/dev/null; then
  cat >judge.c <<'C'
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
int faults_(void) {
  struct rusage now;
  getrusage(RUSAGE_THREAD, &now);
  return (int)(now.ru_minflt + now.ru_majflt);
}
void touch_(const int* pages) {
  volatile char* at = mmap(0, *pages * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise((void*)at, *pages * 4096ul, MADV_NOHUGEPAGE);
  for (int i = 0; i < *pages; ++i) at[i * 4096ul] = 1;
}
C
  cat >fortran.f90 <<'F'
program counted
  use mpi
  implicit none
  integer :: ierror, i, before, total
  integer, external :: faults
  call MPI_Init(ierror)
  total = 0
  do i = 1, 10
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    before = faults()
    call touch(100)
    total = total + faults() - before
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
  print *, 'faults', total
end program
F
  cc -O1 -c -o judge.o judge.c
  build_fortran fortran judge.o
  trace 1 --counters perf::PAGE-FAULTS ./fortran >out.txt 2>err.txt || fail "$(cat err.txt)"
  "$rubato" profile run.otf2dir --csv rows.csv >/dev/null
  expected=$(awk '/faults/ { print $2 }' out.txt)
  found=$(awk -F, '$2 == "counter perf::PAGE-FAULTS" { n += $7 } END { print n + 0 }' rows.csv)
  [ "$expected" -ge 1000 ] && [ "$found" -ge "$expected" ] && [ "$found" -le $((expected + 20)) ] ||
    fail "Fortran: $found page faults, not $expected"
fi

# Names that nothing can count, before the program starts.
expect_failure 2 "at most 12 counters" "$rubato" trace --counters a,b,c,d,e,f,g,h,i,j,k,l,m ./app
expect_failure 2 "perf::TASK-CLOCK is named twice" "$rubato" trace --counters perf::TASK-CLOCK,perf::TASK-CLOCK ./app
expect_failure 2 "expected names" "$rubato" trace --counters perf::TASK-CLOCK, ./app
expect_failure 1 "; nothing was started" "$rubato" trace --counters no-such-counter ./app
# Without PAPI.
mkdir none
for version in 7.2 7.1 7.0 6.0 5.7; do echo no library >none/libpapi.so.$version; done
LD_LIBRARY_PATH=$work/none expect_failure 1 "PAPI_TOT_INS needs PAPI" "$rubato" trace --counters PAPI_TOT_INS ./app

# Faults of user code, by the kernel: with PAPI and without.
"mpicc.$flavour" -O1 -w -pthread -o app app.c
LD_LIBRARY_PATH=$work/none trace 2 --counters perf::TASK-CLOCK,perf::PAGE-FAULTS:u=1 ./app 2>judge.txt || fail "$(cat judge.txt)"
check

# By PAPI, beside an event of the kernel. Without counters of the processor PAPI knows not even the kernel's.
trace 1 --counters perf::PAGE-FAULTS:u=1:k=0 true >papi.txt 2>&1 || true
if grep -Eq 'needs PAPI|Event does not exist' papi.txt; then
  echo "PAPI is not tested: $(cat papi.txt)"
else
  trace 2 --counters perf::TASK-CLOCK,perf::PAGE-FAULTS:u=1:k=0 ./app 2>judge.txt || fail "$(cat judge.txt)"
  check
  [ "$(cat files.txt)" = 0 ] || fail "a program that the program executes has PAPI's files"
  otf2-print -G run.otf2dir/traces.otf2 | grep -q 'PAGE-FAULTS:u=1:k=0.*Type: PAPI, Mode: ACCUMULATED_START' ||
    fail "$(otf2-print -G run.otf2dir/traces.otf2 | grep METRIC)"
fi
pass
