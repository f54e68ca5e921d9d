#!/bin/sh
# The sizes that each rank sends to each peer in vector collectives are in the archive, also zero sizes, in place,
# between groups, from Fortran, and after a crash.
. "$(dirname "$0")/../lib.sh"
cp "$here/trace_parts.c" "$here/trace_parts.f90" .

# The parts in the archive equal the parts printed by the ranks.
compare() {
  check_readable "$1"
  otf2-print run.otf2dir/traces.otf2 >print.txt
  rm -f recorded.*
  "$python" "$here/trace_parts.py" <print.txt
  for rank in 0 1 2 3; do
    diff "sent.$rank" "recorded.$rank" >difference || fail "$1: parts of rank $rank: $(cat difference)"
  done
}

build_program trace_parts
trace 4 ./trace_parts
compare C
[ "$(wc -l <sent.0)" -ge 11 ] || fail "rank 0 made $(wc -l <sent.0) calls only"
grep -q '^MPI_Alltoallv 6 6 6 6$' recorded.3 || fail "no uniform call"
grep -c 'PARAMETER_UINT64 .*RUBATO_PART_SENT.*Value: 6\>' print.txt | grep -qx 5 ||
  fail "four uniform calls and the root's take other than one record each"
otf2-print -I run.otf2dir/traces.otf2 | grep -A1 'RUBATO::PART_RUNS_LIMIT' | grep -q ' 1024$' || fail "no limit"
# The request of a persistent call is on the call that has the parts.
grep -A1 '^ENTER .*Alltoallv_init"' print.txt | grep -c 'RUBATO_REQUEST"' | grep -qx 4 || fail "no request"
"$rubato" info run.otf2dir >info.txt || fail "info: $(cat info.txt)"

rm -f sent.*
trace 4 ./trace_parts die >out.txt 2>&1 || true
"$rubato" recover run.otf2dir >recover.txt 2>&1 || fail "recover: $(cat recover.txt)"
compare recovered

if command -v gfortran >/dev/null && command -v "mpif90.$flavour" >/dev/null; then
  for interface in USEMPI F08; do
    rm -f sent.*
    cp trace_parts.f90 fortran_parts.f90
    build_fortran fortran_parts "-D$interface"
    trace 4 ./fortran_parts
    compare "$interface"
    check_archive
    check_replay
  done
fi
pass
