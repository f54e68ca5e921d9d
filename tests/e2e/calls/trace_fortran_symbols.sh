#!/bin/sh
# Fortran needs no wrappers: each function of the bindings calls one of C, MPI_X or PMPI_X, by a reference that the
# loader leads to the tracer. Which of them do not is named, but for calls that are local.
. "$(dirname "$0")/../lib.sh"
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
ldd app | awk '/libmpi/ { print $3 }' >libraries
names() { nm -D "$1" "$2" | awk '$(NF - 1) ~ /[TUW]/ { print $NF }' | sed 's/@.*//' | sort -u; }

# Symbols needed of the bindings, as mpi_x; and the C functions that they need and the tracer defines.
while read -r library; do names --defined-only "$library"; done <libraries |
  sed -nE 's/^(mpix?_[a-z0-9_]*[a-z0-9])_+$/\1/p' | sed -E 's/_f08(ts)?$//; s/_f08(ts)?_large$/_c/; s/_cptr$//' | sort -u >bound
[ "$(wc -l <bound)" -gt 300 ] || fail "the bindings have only $(wc -l <bound) functions"
names --defined-only "$tracer" | grep '^P\?MPI' >ours
while read -r library; do names --undefined-only "$library"; done <libraries | sort -u | comm -12 - ours |
  sed 's/^P//' | tr '[:upper:]' '[:lower:]' | sort -u >called

# Left out on purpose, as for C: kind "none" in the table.
awk '$3 == "none" { gsub(/\*/, ".*", $1); print "^" tolower($1) "(_c)?$" }' "$tests/../tracer/hooks/mpi_calls.txt" >left_out
# Attributes and what only makes a handle, which both libraries do without a call of C; functions to be passed
# (mpi_dup_fn), second names of those of kind "none", extensions, and what was removed from MPI: all of them local.
cat >>left_out <<'T'
^mpi_(attr|(comm|type|win)_(get|set)_attr)(_get|_put)?$
^mpi_(keyval_create|(comm|type|win)_create_keyval|(comm|file|win)_create_errhandler|type_match_size)$
^mpi_([a-z]+_)?(dup|null_copy|null_delete)_fn$|^mpi_conversion_fn_null$
^mpi_(sizeof(_.*)?|f_sync_reg)$
^mpi_(wtime|wtick|aint_add|aint_diff)_f90$
^mpix_[a-z_]*_init$
^mpi_delete_error_(class|code|string)$
^mpi_(address|errhandler_(create|get|set)|type_(extent|hindexed|hvector|lb|struct|ub))$
T
comm -23 bound called | grep -Evf left_out >missing || true
[ ! -s missing ] || fail "do not call the function of C: $(tr '\n' ' ' <missing)"
readelf -d "$tracer" | grep NEEDED | grep -i 'gfortran\|quadmath\|mpi' && fail "the tracer needs a library"
pass
