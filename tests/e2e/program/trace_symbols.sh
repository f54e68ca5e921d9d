#!/bin/sh
# Every function exported by libmpi has a wrapper, except functions excluded in mpi_calls.txt or no longer declared in
# mpi.h; missing ones are reported. The tracer itself needs no MPI library.
. "$(dirname "$0")/../lib.sh"
tracer=$(find "$build"/lib* -name "librubato-trace-$flavour.so" | head -1)
echo 'int main(void) { return MPI_Init(0, 0); }' >app.c
build_program app -include mpi.h
library=$(ldd app | awk '/libmpi(ch)?\.so/ { print $3 }')
[ -n "$library" ] || fail "cannot find libmpi"

names() { nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { print $3 }' | sed 's/@.*//' | grep '^MPIX\?_[A-Z]' | sort -u; }
names "$library" >exported
names "$tracer" >wrapped

# Left out on purpose: patterns of kind "none" in the table, and callbacks known by their address.
table=$tests/../tracer/hooks/mpi_calls.txt
awk '$3 == "none" { gsub(/\*/, ".*", $1); print "^" $1 "(_c)?$" }' "$table" >left_out
cat >>left_out <<'X'
^MPI_[A-Z_]*(_FN|_FN_NULL|_F90)$
X
# Removed from MPI (3.0) or from its C header.
cat >>left_out <<'X'
^MPI_(Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|struct|ub))$
X
comm -23 exported wrapped | grep -Evf left_out >missing || true
[ ! -s missing ] || fail "no wrapper for: $(tr '\n' ' ' <missing)"

[ -z "$(comm -13 exported wrapped)" ] || fail "wrappers of nothing: $(comm -13 exported wrapped | tr '\n' ' ')"
nm -D --undefined-only "$tracer" | grep -i 'mpi' && fail "the tracer refers to MPI"
readelf -d "$tracer" | grep NEEDED | grep -i 'mpi\|otf2\|stdc++' && fail "the tracer needs a library"
# At both levels, as a program with wrappers of its own calls PMPI_X.
nm -D --defined-only "$tracer" | awk '{ print $3 }' | sed -n 's/^PMPI/MPI/p' | sort -u | cmp - wrapped || fail "not both of MPI_X and PMPI_X"
# Besides MPI: what -finstrument-functions calls, how threads are created and joined (tracer/record/threads.h), and how programs
# look functions up (tracer/mpi/symbol_lookup.h) and unload libraries (tracer/record/call_paths.h).
others='^dlclose$\|^dlmopen$\|^dlopen$\|^dlsym$\|^__cyg_profile_func_\(enter\|exit\)$\|^pthread_\(create\|join\|tryjoin_np\|timedjoin_np\|clockjoin_np\)$'
# Bindings of Open MPI that make attribute functions and error handlers without a call of C (tracer/hooks/callbacks.cc).
if [ "$flavour" = openmpi ]; then
  made='\(\(comm_\|type_\|win_\)create_keyval\|keyval_create\|\(comm_\|file_\|win_\)create_errhandler\|errhandler_create\|register_datarep\)'
  others="$others\\|^p\\?mpi_${made}_\$\\|^ompi_${made}_f\$"
fi
[ -z "$(nm -D --defined-only "$tracer" | awk '{ print $3 }' | grep -v '^P\?MPIX\?_' | grep -v "$others")" ] ||
  fail "more than that is exported"
pass
