#!/usr/bin/env bash
# What the generator writes for a message, a large-count nonblocking collective and a blocking collective, so that a
# change to it is seen as text. It gets the real table and a header of our own: nothing here depends on an MPI library.
#
#   tests/golden/generated_wrappers.sh approve     updates generated_wrappers.txt: review the difference
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

python3 -B ../../tracer/hooks/gen_wrappers.py --table ../../tracer/hooks/mpi_calls.txt --header mpi.i --out "$work" || exit 1
# function FILE BEGINNING: the definition that begins so.
function_of() {
  awk -v begin="$2" 'index($0, begin) == 1 { on = 1 } on { print } on && /^}/ { exit }' "$work/$1"
  echo
}
{
  function_of wrappers.cc 'static int wrapped_MPI_Send('
  function_of wrappers.cc 'static int wrapped_MPI_Ialltoallv_c('
  function_of wrappers.cc 'static int wrapped_MPI_Bcast('
} >"$work/found.txt"

if [ "${1-}" = approve ]; then
  cp "$work/found.txt" generated_wrappers.txt
else
  diff generated_wrappers.txt "$work/found.txt"
fi
