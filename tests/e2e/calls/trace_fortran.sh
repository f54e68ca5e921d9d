#!/bin/sh
# A Fortran program, through mpif.h, mpi and mpi_f08, does with the tracer what it does without, and its
# archive has the same calls and the same records as that of its twin in C.
. "$(dirname "$0")/../lib.sh"
needs_fortran
cp "$here/trace_fortran.f90" "$here/trace_fortran.c" .
build_program trace_fortran

# Regions and records, each with what it says but for times and the number of a request; sorted, since
# completion has no order. How often a loop asks is chance.
records() {
  otf2-print "$1/traces.otf2" |
    sed -nE '/^(ENTER|MPI_|COMM_|NON_BLOCKING_)/ { s/^([A-Z_]+ +[0-9]+) +[0-9]+/\1/; s/ADDITIONAL ATTRIBUTES.*//; s/Request: [0-9]+//; p }' |
    sed -E 's/ <[0-9]+>//g; s/ +/ /g' | grep -v 'ENTER.*MPI_\(Test\|Testany\|Testall\|Testsome\|Waitsome\)"' | sort
}

trace 2 ./trace_fortran
check_archive
records run.otf2dir >expected
[ "$(wc -l <expected)" -gt 300 ] || fail "the archive of the C program has $(wc -l <expected) records"
mv run.otf2dir c.otf2dir

for interface in MPIFH USEMPI F08; do
  build_fortran trace_fortran "-D$interface"
  run 2 ./trace_fortran >plain.txt
  [ "$(wc -l <plain.txt)" -ge 15 ] || fail "$interface: the program does not work: $(cat plain.txt)"
  trace 2 ./trace_fortran >traced.txt
  cmp plain.txt traced.txt || fail "$interface: another output with the tracer: $(diff plain.txt traced.txt)"
  check_archive
  # On each rank: post() 8 times, Ssend_init 3 times; the cancelled receive besides.
  expect 2 '^MPI_SEND .*Tag: [56],'
  expect 2 '^MPI_SEND .*Tag: 7,'
  expect 2 '^MPI_SEND .*Tag: 8,'
  expect 22 '^MPI_ISEND '
  expect 22 '^MPI_ISEND_COMPLETE '
  expect 24 '^MPI_IRECV_REQUEST '
  expect 22 '^MPI_IRECV '
  expect 2 '^MPI_REQUEST_CANCELLED '
  otf2-print -G run.otf2dir/traces.otf2 | grep -q '^COMM .*Name: "half of it"' || fail "$interface: no name"
  records run.otf2dir >found
  diff expected found >difference || fail "$interface: not the records of C: $(head -20 difference)"
  "$rubato" replay run.otf2dir --on measured --verify >replay.txt 2>&1 || fail "$interface: $(cat replay.txt)"
done
pass
