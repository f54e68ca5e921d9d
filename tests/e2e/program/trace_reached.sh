#!/bin/sh
# Every call is recorded once, whichever way it reaches MPI: from the program, through wrappers of its own or of
# libraries in front of and behind the tracer, through functions that it looks up itself, from libraries that do not see
# the tracer, in C, Fortran and Python; calls of the MPI library to itself are not. The program counts its own calls
# (the macro DO), and so do the wrapper libraries: the archive must have that many of each rank.
. "$(dirname "$0")/../lib.sh"

# --- What is counted ---------------------------------------------------------------------------------------------
cat >counted.h <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static long counted;
#define DO(call) (counted++, call)
/* each kind of call: message, request, collective, communicator, file (where MPI calls itself) */
static int all_kinds(int rounds, const char *file) {
  int rank, size, x = 1, y = 0, sum = 0;
  MPI_Comm twin;
  MPI_Request r[2];
  MPI_File f;
  DO(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  DO(MPI_Comm_size(MPI_COMM_WORLD, &size));
  MPI_Pcontrol(1, 7, "region"); /* for wrappers; not counted, as it need not come to MPI */
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
  for (int i = 0; i < rounds; i++) {
    DO(MPI_Irecv(&y, 1, MPI_INT, (rank + size - 1) % size, 0, twin, &r[0]));
    DO(MPI_Isend(&x, 1, MPI_INT, (rank + 1) % size, 0, twin, &r[1]));
    DO(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    DO(MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 1, &y, 1, MPI_INT, (rank + size - 1) % size, 1, twin, MPI_STATUS_IGNORE));
    DO(MPI_Allreduce(&y, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  }
  if (file) {
    char text[8] = "1234567";
    DO(MPI_File_open(twin, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    DO(MPI_File_write_at_all(f, 8 * rank, text, 8, MPI_CHAR, MPI_STATUS_IGNORE));
    DO(MPI_File_write_ordered(f, text, 8, MPI_CHAR, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&f));
  }
  DO(MPI_Comm_free(&twin));
  return sum;
}
C
cat >plain.c <<'C'
#include "counted.h"
int main(int argc, char **argv) {
  DO(MPI_Init(&argc, &argv));
  int sum = all_kinds(50, argc > 1 ? argv[1] : 0);
  printf("calls %ld sum %d\n", counted + 1, sum);
  fflush(stdout);
  DO(MPI_Finalize());
  return 0;
}
C
build_program plain

# check WHAT [RANKS]: calls.txt has a line "calls N" for each rank, and run.otf2dir has so many calls of the rank.
check() {
  [ "$(grep -c '^calls ' calls.txt)" = "${2-2}" ] || fail "$1: the program did not work: $(cat calls.txt err.txt)"
  otf2-print run.otf2dir/traces.otf2 | awk '/^ENTER/ && /"MPI_/ && !/MPI_Pcontrol/ { n[$2]++ } END { for (i in n) print n[i] }' | sort >found
  awk '/^calls / { print $2 }' calls.txt | sort >wanted
  cmp -s wanted found || fail "$1: $(tr '\n' ' ' <wanted)calls, recorded $(tr '\n' ' ' <found)"
  check_readable "$1"
  "$rubato" replay run.otf2dir --on measured --on perfect --verify >replay.txt 2>&1 || fail "$1: $(cat replay.txt)"
  grep -q "${3-^Every MPI call that communicates is replayed\.$}" replay.txt || fail "$1: $(grep -i 'replayed' replay.txt)"
}
# ways WORDS: what the archive says of them.
ways() {
  otf2-print -A run.otf2dir/traces.otf2 >anchor.txt
  grep -A1 MPI_REACHED anchor.txt | grep -q "$1" || fail "$what: not reached by $1: $(grep -A1 MPI_REACHED anchor.txt)"
}

trace 2 ./plain >calls.txt 2>err.txt || fail "plain: $(cat err.txt)"
check plain
# Within a call on a file the MPI library makes other calls.
trace 2 ./plain file.bin >calls.txt 2>err.txt || fail "files: $(cat err.txt)"
check files 2 'MPI_File_open (2 calls'

# --- Wrappers of the program -------------------------------------------------------------------------------------
cat >wrappers.h <<'C'
/* wrappers that count, for the executable or for a library; NEXT is how they find MPI's function */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long seen, controlled;
static int ready;
int WRAPPER_IS_READY(void) { return ready; }
int MPI_Init(int *c, char ***v) {
  int (*next)(int *, char ***) = NEXT(MPI_Init);
  int code = next(c, v);
  ready = 1;
  return code;
}
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) = NEXT(MPI_Allreduce);
  seen++;
  return next(s, r, n, t, o, c);
}
int MPI_Sendrecv(const void *s, int sn, MPI_Datatype st, int d, int dt, void *r, int rn, MPI_Datatype rt, int so, int tg, MPI_Comm c, MPI_Status *x) {
  int (*next)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) = NEXT(MPI_Sendrecv);
  seen++;
  return next(s, sn, st, d, dt, r, rn, rt, so, tg, c, x);
}
int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s) {
  int (*next)(int, MPI_Request *, MPI_Status *) = NEXT(MPI_Waitall);
  seen++;
  return next(n, r, s);
}
int MPI_Pcontrol(const int level, ...) {
  va_list more;
  va_start(more, level);
  int number = va_arg(more, int);
  char *name = va_arg(more, char *);
  va_end(more);
  if (number != 7 || strcmp(name, "region")) { printf("pcontrol %d\n", number); exit(3); }
  controlled++;
  return 0;
}
int MPI_Finalize(void) {
  int (*next)(void) = NEXT(MPI_Finalize);
  printf("%s %ld\n%s regions %ld\n", TOOL, seen, TOOL, controlled);
  fflush(stdout);
  return next();
}
C
{ echo '#define NEXT(name) P##name'; echo '#define TOOL "own"'; echo '#define WRAPPER_IS_READY own_ready'
  echo '#include "wrappers.h"'; echo '#include "plain.c"'; } >own.c
build_program own
trace 2 ./own >calls.txt 2>err.txt || fail "own wrappers: $(cat err.txt)"
what="own wrappers"
check "$what"
ways "wrappers of the program"

# the linker's --wrap
cat >linked.c <<'C'
#include "plain.c"
int __real_MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int __wrap_MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) { return __real_MPI_Allreduce(s, r, n, t, o, c); }
C
build_program linked -Wl,--wrap=MPI_Allreduce
trace 2 ./linked >calls.txt 2>err.txt || fail "--wrap: $(cat err.txt)"
check "--wrap"

# --- Wrapper libraries -------------------------------------------------------------------------------------------
# NAME NEXT: libNAME.so
library() {
  printf '#define NEXT(name) %s\n#define TOOL "%s"\n#define WRAPPER_IS_READY %s_ready\n#include "wrappers.h"\n' "$2" "$1" "$1" >"$1.c"
  "mpicc.$flavour" -O1 -w -shared -fPIC -o "lib$1.so" "$1.c" -ldl
}
library mini 'P##name'
library next 'dlsym(RTLD_NEXT, #name)'
library deeper 'dlsym(RTLD_NEXT, "P" #name)'
# 50 rounds of an allreduce, a sendrecv and a waitall
tools_saw() {
  for tool in "$@"; do
    [ "$(grep -c "^$tool 150$" calls.txt)" = 2 ] || fail "$what: $tool did not see 150 calls: $(cat calls.txt)"
  done
  # (It does not hand this on.)
  [ "$(grep -c "^$1 regions 1$" calls.txt)" = 2 ] || fail "$what: $1 did not get MPI_Pcontrol: $(cat calls.txt)"
}
# linked with the program, whose code asks whether the library has seen MPI_Init
cat >needs.c <<'C'
#include "counted.h"
int mini_ready(void);
int main(int argc, char **argv) {
  DO(MPI_Init(&argc, &argv));
  if (!mini_ready()) { puts("the library was passed by"); exit(7); }
  int sum = all_kinds(50, 0);
  printf("calls %ld sum %d\n", counted + 1, sum);
  fflush(stdout);
  DO(MPI_Finalize());
  return 0;
}
C
build_program needs -L. -lmini -Wl,-rpath,"$work"
what="linked library"
trace 2 ./needs >calls.txt 2>err.txt || fail "$what: $? $(cat calls.txt err.txt)"
check "$what"
tools_saw mini
ways "wrappers of libmini.so"
for tools in mini next deeper "mini next" "next deeper" "deeper mini"; do
  list=
  for tool in $tools; do list=$list${list:+:}$work/lib$tool.so; done
  what="$tools behind the tracer"
  rm -rf run.otf2dir
  LD_PRELOAD=$list run 2 "$rubato" trace -o run.otf2dir ./plain >calls.txt 2>err.txt || fail "$what: $(cat err.txt)"
  check "$what"
  # PMPI_ leaves out what is behind: of two libraries the second sees only calls that the first hands on by MPI_.
  case $tools in mini*|deeper*) tools_saw "${tools%% *}" ;; *) tools_saw $tools ;; esac
  what="$tools in front of the tracer"
  rm -rf run.otf2dir
  run 2 "$rubato" trace -o run.otf2dir sh -c "LD_PRELOAD=$list:\$LD_PRELOAD exec ./plain" >calls.txt 2>err.txt || fail "$what: $(cat err.txt)"
  check "$what"
  case $tools in mini*|deeper*) tools_saw "${tools%% *}" ;; *) tools_saw $tools ;; esac
done

# --- Functions that the program looks up -------------------------------------------------------------------------
mpi_path=$(ldd ./plain | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3 }' | head -1)
cat >looked_up.c <<'C'
/* not linked with MPI: MPI.jl and numba-mpi do so */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define F(name) __typeof__(name) *p_##name = (void *)dlsym(h, #name)
int main(int argc, char **argv) {
  void *h = dlopen(argv[1], RTLD_NOW | (argv[2][0] == 'l' ? RTLD_LOCAL : RTLD_GLOBAL) | (argv[2][1] == 'd' ? 8 : 0));
  if (h && argv[2][1] == '0') h = 0; /* RTLD_DEFAULT */
  long counted = 0;
  if (!h && argv[2][1] != '0') { puts(dlerror()); return 1; }
  F(MPI_Init); F(MPI_Comm_rank); F(PMPI_Barrier); F(MPI_Barrier); F(MPI_Finalize);
#ifdef OPEN_MPI
  MPI_Comm world = dlsym(h, "ompi_mpi_comm_world");
#else
  MPI_Comm world = MPI_COMM_WORLD;
#endif
  int rank;
  counted += 2; p_MPI_Init(0, 0); p_MPI_Comm_rank(world, &rank);
  for (int i = 0; i < 20; i++) { counted += 2; p_MPI_Barrier(world); p_PMPI_Barrier(world); }
  printf("calls %ld\n", counted + 1); fflush(stdout);
  p_MPI_Finalize();
  return 0;
}
C
# shellcheck disable=SC2046  # words
cc -O1 -w $("mpicc.$flavour" -show 2>/dev/null | tr ' ' '\n' | grep '^-I') -o looked_up looked_up.c -ldl
for how in l g ld gd g0; do
  what="dlsym on a handle ($how)"
  trace 2 ./looked_up "$mpi_path" $how >calls.txt 2>err.txt || fail "$what: $(cat err.txt)"
  check "$what"
  ways dlsym
  grep -A1 MPI_REACHED anchor.txt | grep -q references && fail "$what: no library refers to MPI"
done
cat >ctypes_mpi.py <<'P'
import ctypes, sys
m = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
m.MPI_Init(None, None)
if hasattr(m, "ompi_mpi_comm_world"):
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(m, "ompi_mpi_comm_world")))
else:
    world = ctypes.c_int(0x44000000)
for _ in range(5):
    m.MPI_Barrier(world)
sys.stdout.write("calls 7\n")
sys.stdout.flush()
m.MPI_Finalize()
P
trace 2 "$python" ctypes_mpi.py "$mpi_path" >calls.txt 2>err.txt || fail "ctypes: $(cat err.txt)"
check ctypes

# --- A library that does not see the tracer ----------------------------------------------------------------------
cat >plug.c <<'C'
#include <dlfcn.h>
#include "counted.h"
int (*const in_data)(MPI_Comm) = MPI_Barrier; /* bound where the library is loaded */
long work(void) {
  all_kinds(50, 0);
  DO(in_data(MPI_COMM_WORLD));
  /* it asks its own dlsym */
  int (*asked)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(dlopen(PATH, RTLD_NOW), "MPI_Barrier");
  DO(asked(MPI_COMM_WORLD));
  return counted;
}
C
cat >deep.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include "counted.h"
int main(int argc, char **argv) {
  DO(MPI_Init(&argc, &argv));
  void *h = dlopen("./plug.so", (argv[1][0] == 'l' ? RTLD_LAZY : RTLD_NOW) | RTLD_DEEPBIND);
  if (!h) { puts(dlerror()); return 1; }
  long (*work)(void) = (long (*)(void))dlsym(h, "work");
  counted += work();
  printf("calls %ld\n", counted + 1);
  fflush(stdout);
  DO(MPI_Finalize());
  return 0;
}
C
build_program deep -ldl
for binding in '-Wl,-z,lazy' '-Wl,-z,now -Wl,-z,relro'; do
  # shellcheck disable=SC2086  # two words
  "mpicc.$flavour" -O1 -w -shared -fPIC $binding -DPATH="\"$mpi_path\"" -o plug.so plug.c -ldl
  for how in lazy now; do
    what="RTLD_DEEPBIND, $binding, $how"
    trace 2 ./deep $how >calls.txt 2>err.txt || fail "$what: $(cat err.txt)"
    check "$what"
    ways RTLD_DEEPBIND
  done
done
# A library entered without dlsym, by its constructor: it is reported.
cat >begins.c <<'C'
#include <mpi.h>
__attribute__((constructor)) static void begin(void) { for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD); }
C
"mpicc.$flavour" -O1 -w -shared -fPIC -Wl,-z,now -o begins.so begins.c
cat >starts.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (!dlopen("./begins.so", RTLD_NOW | RTLD_DEEPBIND)) return 1;
  MPI_Finalize();
  return 0;
}
C
build_program starts -ldl
trace 2 ./starts >out.txt 2>err.txt || fail "constructor: $(cat err.txt)"
"$rubato" replay run.otf2dir --on measured >replay.txt 2>&1 || fail "constructor: $(cat replay.txt)"
grep -q 'replayed\. Calls by begins\.so may be missing' replay.txt ||
  fail "constructor: $(grep -i replayed replay.txt)"

# --- MPI in the program itself -----------------------------------------------------------------------------------
archive=$(find /usr/lib -name "libmpich.a" 2>/dev/null | head -1)
if [ "$flavour" = mpich ] && [ -n "$archive" ]; then
  libraries=$("mpicc.$flavour" -show -link_info 2>/dev/null | tr ' ' '\n' | grep '^-L' | tr '\n' ' ')
  # shellcheck disable=SC2046,SC2086  # words
  "mpicc.$flavour" -O1 -w -c -o static.o plain.c &&
    gcc -o static static.o "$archive" $libraries $(ldd "$mpi_path" | awk '/=> \// { print $3 }') 2>link.txt ||
    fail "static MPI: $(tail -5 link.txt)"
  rm -rf run.otf2dir
  run 2 "$rubato" trace -o run.otf2dir ./static >calls.txt 2>err.txt || fail "static MPI: $(cat err.txt)"
  [ "$(grep -c '^calls' calls.txt)" = 2 ] || fail "static MPI: $(cat calls.txt)"
  [ "$(grep -c 'has MPI linked in statically' err.txt)" -ge 1 ] || fail "static MPI: $(cat err.txt)"
  grep -q 'did not call MPI_Init' err.txt && fail "static MPI: $(cat err.txt)"
  [ ! -e run.otf2dir ] || fail "static MPI: an archive of nothing"
fi

# --- Fortran -----------------------------------------------------------------------------------------------------
command -v gfortran >/dev/null && command -v "mpif90.$flavour" >/dev/null || { pass; exit 0; }
cat >body.inc <<'F'
  call MPI_Init(error); calls = calls + 1
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error); calls = calls + 1
  do i = 1, 50
    call MPI_Irecv(y, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, requests(1), error); calls = calls + 1
    call MPI_Isend(x, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, requests(2), error); calls = calls + 1
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error); calls = calls + 1
    call MPI_Sendrecv(x, 1, MPI_INTEGER, 1 - rank, 1, y, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    calls = calls + 1
    call MPI_Allreduce(x, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error); calls = calls + 1
  end do
  print '(a,i0)', 'calls ', calls + 1
  flush(6)
  call MPI_Finalize(error)
F
cat >fortran.f90 <<'F'
program main
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer :: error, rank, i, x = 1, y, total, calls = 0
#ifdef F08
  type(MPI_Request) :: requests(2)
#else
  integer :: requests(2)
#endif
#include "body.inc"
end program
#ifdef OWN
! the program's wrappers, as for timers
subroutine MPI_Allreduce(a, b, n, t, o, c, error)
  integer :: a, b, n, t, o, c, error
  call PMPI_Allreduce(a, b, n, t, o, c, error)
end subroutine
subroutine MPI_Waitall(n, r, s, error)
  integer :: n, r(*), s(*), error
  call PMPI_Waitall(n, r, s, error)
end subroutine
#endif
F
for interface in MPIFH MODULE F08 "MPIFH -DOWN"; do
  # shellcheck disable=SC2086  # two words
  build_fortran fortran -D$interface -fallow-argument-mismatch
  trace 2 ./fortran >calls.txt 2>err.txt || fail "Fortran, $interface: $(cat err.txt)"
  check "Fortran, $interface"
done
# wrapper libraries below Fortran: one of C, one of Fortran
cat >flib.f90 <<'F'
subroutine MPI_Allreduce(a, b, n, t, o, c, error)
  integer :: a, b, n, t, o, c, error
  call PMPI_Allreduce(a, b, n, t, o, c, error)
end subroutine
F
"mpif90.$flavour" -O1 -w -shared -fPIC -o libflib.so flib.f90
build_fortran fortran -DMPIFH -fallow-argument-mismatch
for tool in flib mini; do
  what="Fortran, lib$tool.so"
  rm -rf run.otf2dir
  LD_PRELOAD=$work/lib$tool.so run 2 "$rubato" trace -o run.otf2dir ./fortran >calls.txt 2>err.txt || fail "$what: $(cat err.txt)"
  check "$what"
done
pass
