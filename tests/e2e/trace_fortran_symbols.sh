#!/bin/sh
# Every function that the Fortran bindings export is seen: by a wrapper of its own symbol, or, under MPICH,
# because it calls a C function that has one. What is missing is named. And Fortran programs need nothing
# that the tracer would have to be linked with.
. "$(dirname "$0")/lib.sh"
tracer=$(find "$build"/lib* -name "librubato-trace-$flavour.so" | head -1)
needs_fortran
export LC_ALL=C
cat >app.f90 <<'F'
program app
  use mpi_f08
  call MPI_Init()
  call MPI_Finalize()
end program
F
build_fortran app
names() { nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { print $3 }' | sed 's/@.*//' | sort -u; }
ldd app | awk '/libmpi/ { print $3 }' >libraries
while read -r library; do names "$library"; done <libraries >symbols
names "$tracer" | grep '^mpi' >wrapped

# Left out on purpose, as for C: kind "none" in the table.
awk '$3 == "none" { gsub(/\*/, ".*", $1); print "^" tolower($1) "(_c)?$" }' "$here/../../tracer/mpi_calls.txt" >left_out
# No calls but functions to be passed (mpi_dup_fn); no functions of C; second names of those of kind "none";
# extensions of Open MPI with headers of their own; MPI 4.1 in MPICH 4.0; and what was removed from MPI,
# and with it from mpi.h.
cat >>left_out <<'X'
^mpi_([a-z]+_)?(dup|null_copy|null_delete)_fn$|^mpi_conversion_fn_null$
^mpi_(sizeof(_.*)?|f_sync_reg)$
^mpi_(wtime|wtick|aint_add|aint_diff)_f90$
^mpix_[a-z_]*_init$
^mpi_delete_error_(class|code|string)$
^mpi_(address|errhandler_(create|get|set)|type_(extent|hindexed|hvector|lb|struct|ub))$
X

# check SUFFIX [PATTERN]: every mpi_NAME_SUFFIX has a wrapper, but for those left out; every wrapper has a
# function behind it, but for those of PATTERN.
check() {
  sed -nE "s/^(mpix?_[a-z0-9_]*[a-z0-9])$1\$/\1/p" symbols | grep -Ev '_f08(ts)?(_large)?$' | sort -u >exported
  [ -s exported ] || fail "the bindings export no mpi_NAME$1"
  sed -nE "s/^(mpix?_[a-z0-9_]*[a-z0-9])$1\$/\1/p" wrapped | grep -Ev '_f08(_large)?$' | sort -u >ours
  comm -23 exported ours | grep -Evf left_out >missing || true
  [ ! -s missing ] || fail "no wrapper for mpi_NAME$1: $(tr '\n' ' ' <missing)"
  comm -13 exported ours | grep -Ev "${2-^$}" >nothing || true
  [ ! -s nothing ] || fail "wrappers of nothing: $(tr '\n' ' ' <nothing)"
}
check _f08_
if [ "$flavour" = openmpi ]; then
  check _
  check __
  [ "$(grep -c 'mpi_send_\(_\|f08_\)\?$' wrapped)" = 3 ] || fail "not three symbols of MPI_Send"
else
  # Large forms that MPI 4.0 has and MPICH 4.0 does not.
  check _f08_large_ '^mpi_(op_create|register_datarep|type_create_resized|(file_get_type|type_get|type_get_true)_extent)$'
  # The others call C's functions by the names that have wrappers.
  bindings=$(grep fort libraries)
  nm -D --undefined-only "$bindings" | awk '{ print $2 }' | sed 's/@.*//' | sort -u >called
  names "$tracer" | grep '^MPI' >ours
  sed -nE 's/^(mpix?_[a-z0-9_]*[a-z0-9])_(f08ts_)?$/\1/p; s/^(mpi_[a-z0-9_]*)_f08ts_large_$/\1_c/p' symbols |
    grep -Ev '_f08(ts)?(_large)?$' | sort -u >bound
  sed -nE 's/^(mpix?_[a-z0-9_]*[a-z0-9])_$/\1/p' wrapped | sort | comm -23 bound - >expected
  grep -E '^MPIX?_' called | comm -12 - ours | tr '[:upper:]' '[:lower:]' | sort >seen
  comm -23 expected seen | grep -Evf left_out >missing || true
  [ ! -s missing ] || fail "do not call the C function: $(tr '\n' ' ' <missing)"
fi
readelf -d "$tracer" | grep NEEDED | grep -i 'gfortran\|quadmath\|mpi' && fail "the tracer needs a library"
pass
