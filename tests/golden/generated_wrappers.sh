#!/usr/bin/env bash
# What the generators write for four functions, one of C, one of a large-count nonblocking collective, a blocking
# collective in C and Fortran, and one of Fortran, so that a change to them is seen as text. They get the real
# table and a header of our own: nothing here depends on an MPI library.
#
#   tests/golden/generated_wrappers.sh approve     writes generated_wrappers.txt anew: read the difference
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for generator in gen_wrappers gen_fortran; do
  python3 -B "../../tracer/$generator.py" --table ../../tracer/mpi_calls.txt --header mpi.i --out "$work" || exit 1
done
# function FILE BEGINNING: the definition that begins so.
function_of() {
  awk -v begin="$2" 'index($0, begin) == 1 { on = 1 } on { print } on && /^}/ { exit }' "$work/$1"
  echo
}
{
  function_of wrappers.cc 'static int wrapped_MPI_Send('
  function_of wrappers.cc 'static int wrapped_MPI_Ialltoallv_c('
  function_of wrappers.cc 'static int wrapped_MPI_Bcast('
  function_of fortran_wrappers.cc 'static void fortran_MPI_Bcast('
  function_of fortran_wrappers.cc 'static void fortran_MPI_Wait('
  function_of fortran_wrappers.cc 'RUBATO_EXPORT void mpi_wait_f08_('
} >"$work/found.txt"

if [ "${1-}" = approve ]; then
  cp "$work/found.txt" generated_wrappers.txt
else
  diff generated_wrappers.txt "$work/found.txt"
fi
