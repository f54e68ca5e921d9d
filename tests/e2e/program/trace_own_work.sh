#!/bin/sh
# Callbacks of the program in MPI calls: the recorded ticks of each, by name, are the time that it measures with its
# thread's CPU clock (within 5 %, and no longer than by the wall clock), and the program's results are those of an untraced run. Each callback computes for 5 ms,
# and a callback that gets wrong arguments ends the program. C, Fortran with mpi and mpi_f08, threads, one rank, a killed
# run; more functions than the tracer can interpose.
. "$(dirname "$0")/../lib.sh"
export OMPI_MCA_osc=sm,pt2pt   # what Open MPI 4 takes by itself has no windows on a lone node

cat >burn.c <<'C'
#include <time.h>
/* Computes for 5 ms; the seconds that this took. */
static double own_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double wall_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double lost;
double burn(void) {
  const double begin = own_time(), wall = wall_time();
  while (own_time() < begin + 0.005) continue;
  const double took = own_time() - begin;
  lost += wall_time() - wall - took;
  return took;
}
/* What all of them took longer, since the machine had the core. */
double burn_lost(void) { return lost; }
C
cc -O1 -c burn.c

# check: out.txt has lines "took FUNCTION SECONDS" of all ranks, and "in CALL KIND FUNCTION" for some of the records.
cat >check.py <<'P'
import collections
import re
import subprocess
import sys

def printed(*options):
    return subprocess.run(["otf2-print", *options, "run.otf2dir/traces.otf2"], capture_output=True, text=True).stdout

names = re.search(r"RUBATO::CALLBACKS\n.*?value +(.*)", printed("-A")).group(1).split(";")[:-1]
rate = int(re.search(r"CLOCK_PROPERTIES.*?Ticks per Seconds: (\d+)", printed("-G")).group(1))
took, seen = collections.Counter(), set()
call = None
for line in printed().splitlines():
    if line.startswith("LEAVE"):
        call = line.split('"')[1]
    own = re.search(r'"RUBATO_OWN_WORK" <\d+>; UINT64; (\d+)', line)
    if own:
        name = names[int(re.search(r'"RUBATO_CALLBACK" <\d+>; UINT32; (\d+)', line).group(1))]
        took[name.split()[-1]] += int(own.group(1)) / rate
        seen.add(f"{call} {name}")
true = collections.Counter()
lost = 0
for line in open("out.txt"):
    words = line.split()
    if words[:1] == ["took"]:
        true[words[1]] += float(words[2])
    if words[:1] == ["lost"]:
        lost += float(words[1])
    if words[:1] == ["in"]:
        assert " ".join(words[1:]) in seen, (line, seen)
assert len(true) == int(sys.argv[1]), true
for name, seconds in true.items():
    assert 0.95 * seconds - 0.0005 <= took[name] <= 1.05 * seconds + 0.0005 + lost, (name, seconds, lost, took[name])
P
# own_work RANKS FUNCTIONS PROGRAM: traces it and checks; its lines without times are those of an untraced run. (Each rank
# has a file: the launcher may put lines of two ranks into each other.)
own_work() {
  run "$1" "./$3" || fail "untraced $3: exit code $?"
  cat rank.* >untraced.txt
  trace "$1" "./$3" || fail "$3: exit code $?"
  cat rank.* >out.txt
  for file in untraced out; do grep -Ev '^(took|lost)' $file.txt | sort >$file.sorted; done
  cmp untraced.sorted out.sorted || fail "$3 has other results: $(diff untraced.sorted out.sorted)"
  "$python" check.py "$2" || fail "own work of $3"
}

cat >app.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double burn(void), burn_lost(void);
static int rank, extra_state, value;
#define MUST(x) do { if (!(x)) { printf("wrong: line %d\n", __LINE__); MPI_Abort(MPI_COMM_WORLD, 3); } } while (0)
#define ADDS(f)                                                  \
  static double f##_took;                                        \
  static void f(void* in, void* out, int* n, MPI_Datatype* t) {  \
    int size;                                                    \
    MPI_Type_size(*t, &size);                                    \
    MUST(size == 8 && *n >= 1);                                  \
    for (int i = 0; i < *n; ++i) ((double*)out)[i] += ((double*)in)[i]; \
    f##_took += burn();                                          \
  }
ADDS(blocking) ADDS(scanned) ADDS(scattered) ADDS(nonblocking) ADDS(another) ADDS(persistent) ADDS(local)
static double copies_took, deletes_took, type_copies_took, win_deletes_took, handles_took, win_handles_took,
    file_handles_took, queries_took, cancels_took;
static int copies(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  MUST(comm == MPI_COMM_WORLD && extra == &extra_state && in == &value);
  *(void**)out = in;
  *flag = 1;
  copies_took += burn();
  return MPI_SUCCESS;
}
static int deletes(MPI_Comm comm, int key, void* in, void* extra) {
  MUST(in == &value && extra == &extra_state);
  deletes_took += burn();
  return MPI_SUCCESS;
}
static int type_copies(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  MUST(extra == &extra_state && in == &value);
  *flag = 0;
  type_copies_took += burn();
  return MPI_SUCCESS;
}
static int win_deletes(MPI_Win win, int key, void* in, void* extra) {
  MUST(in == &value && extra == &extra_state);
  win_deletes_took += burn();
  return MPI_SUCCESS;
}
static void handles(MPI_Comm* comm, int* code, ...) {
  int kind;
  MPI_Error_class(*code, &kind);
  MUST(*comm == MPI_COMM_WORLD && (kind == MPI_ERR_RANK || kind == MPI_ERR_OTHER));
  handles_took += burn();
}
static void win_handles(MPI_Win* win, int* code, ...) { MUST(*code == MPI_ERR_OTHER); win_handles_took += burn(); }
static void file_handles(MPI_File* file, int* code, ...) { MUST(*code == MPI_ERR_OTHER); file_handles_took += burn(); }
static int queries(void* extra, MPI_Status* status) {
  MUST(extra == &extra_state);
  MPI_Status_set_elements(status, MPI_BYTE, 7);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 11;
  status->MPI_TAG = 12;
  queries_took += burn();
  return MPI_SUCCESS;
}
static int frees(void* extra) { MUST(extra == &extra_state); return MPI_SUCCESS; }
static int cancels(void* extra, int complete) { MUST(extra == &extra_state); cancels_took += burn(); return MPI_SUCCESS; }
static int extent(MPI_Datatype type, MPI_Aint* size, void* extra) { *size = 8; return MPI_SUCCESS; }
int main(int argc, char** argv) {
  double x[4] = {1, 2, 3, 4}, y[4] = {0};
  int counts[2] = {2, 2}, key, count, commutes;
  MPI_Op op, other;
  MPI_Request r;
  MPI_Status status;
  MPI_Comm copy;
  MPI_Datatype type;
  MPI_Win win;
  MPI_File file;
  MPI_Errhandler handler, same;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  freopen(rank ? "rank.1" : "rank.0", "w", stdout);
  /* Reductions. */
  MPI_Op_create(blocking, 0, &op);
  MPI_Op_commutative(op, &commutes);
  MPI_Allreduce(x, y, 2, MPI_DOUBLE, op, MPI_COMM_WORLD);
  printf("allreduce %d: %g %g %d\n", rank, y[0], y[1], commutes);
  MPI_Reduce(x, y, 2, MPI_DOUBLE, op, 1, MPI_COMM_WORLD);
  if (rank == 1) printf("reduce %g\n", y[0]);
  MPI_Op_free(&op);
  MPI_Op_create(scanned, 1, &op);
  MPI_Scan(x, y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  printf("scan %d: %g\n", rank, y[0]);
  MPI_Exscan(x, y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Op_create(scattered, 1, &op);
  MPI_Reduce_scatter(x, y, counts, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(x, y, 2, MPI_DOUBLE, op, MPI_COMM_WORLD);
  printf("scatter %d: %g %g\n", rank, y[0], y[1]);
  MPI_Op_free(&op);
  /* The operation is freed while it is used; another one is made. */
  MPI_Op_create(nonblocking, 1, &op);
  MPI_Iallreduce(x, y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &r);
  MPI_Op_free(&op);
  MPI_Op_create(another, 1, &other);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Allreduce(x, y + 1, 1, MPI_DOUBLE, other, MPI_COMM_WORLD);
  printf("nonblocking %d: %g %g\n", rank, y[0], y[1]);
  MPI_Op_free(&other);
  MPI_Op_create(persistent, 1, &op);
#ifdef OPEN_MPI
  MPIX_Allreduce_init(x, y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
#else
  MPI_Allreduce_init(x, y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
#endif
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&r);
  MPI_Op_free(&op);
  printf("persistent %d: %g\n", rank, y[0]);
  MPI_Op_create(local, 1, &op);
  MPI_Reduce_local(x, y, 4, MPI_DOUBLE, op);
  printf("local %d: %g\n", rank, y[3]);
  MPI_Op_free(&op);
  /* Attributes, also with functions of MPI. */
  MPI_Comm_create_keyval(copies, deletes, &key, &extra_state);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  void* found = NULL;
  MPI_Comm_get_attr(copy, key, &found, &count);
  printf("copied %d: %d\n", rank, count && found == &value);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free(&copy);
  MPI_Type_create_keyval(type_copies, MPI_TYPE_NULL_DELETE_FN, &key, &extra_state);
  MPI_Type_set_attr(MPI_DOUBLE, key, &value);
  MPI_Type_dup(MPI_DOUBLE, &type);
  MPI_Type_free(&type);
  MPI_Type_delete_attr(MPI_DOUBLE, key);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_deletes, &key, &extra_state);
  MPI_Win_create(x, sizeof x, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_attr(win, key, &value);
  /* Error handlers. */
  MPI_Comm_create_errhandler(handles, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &same);
  printf("same %d: %d\n", rank, same == handler);
  MPI_Send(x, 1, MPI_DOUBLE, 99, 0, MPI_COMM_WORLD);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Win_create_errhandler(win_handles, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  MPI_Win_free(&win);
  MPI_File_create_errhandler(file_handles, &handler);
  MPI_File_open(MPI_COMM_SELF, rank ? "one" : "two", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, handler);
  MPI_File_call_errhandler(file, MPI_ERR_OTHER);
  MPI_File_close(&file);
  /* Generalised requests; data representations, which neither library calls. */
  MPI_Grequest_start(queries, frees, cancels, &extra_state, &r);
  MPI_Cancel(&r);
  MPI_Grequest_complete(r);
  MPI_Wait(&r, &status);
  MPI_Get_elements(&status, MPI_BYTE, &count);
  printf("status %d: %d %d %d\n", rank, count, status.MPI_SOURCE, status.MPI_TAG);
  printf("registered %d: %d\n", rank,
         MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL) == MPI_SUCCESS);
#define SAY(f) printf("took " #f " %.9f\n", f##_took);
  SAY(blocking) SAY(scanned) SAY(scattered) SAY(nonblocking) SAY(another) SAY(persistent) SAY(local)
  SAY(copies) SAY(deletes) SAY(type_copies) SAY(win_deletes) SAY(handles) SAY(win_handles) SAY(file_handles)
  SAY(queries) SAY(cancels)
  printf("lost %.9f\n", burn_lost());
  puts("in MPI_Allreduce user operation blocking\nin MPI_Reduce user operation blocking\n"
       "in MPI_Scan user operation scanned\nin MPI_Reduce_local user operation local\n"
       "in MPI_Comm_dup attribute copy function copies\nin MPI_Comm_free attribute delete function deletes\n"
       "in MPI_Comm_delete_attr attribute delete function deletes\nin MPI_Type_dup attribute copy function type_copies\n"
       "in MPI_Win_free attribute delete function win_deletes\nin MPI_Send error handler handles\n"
       "in MPI_Win_call_errhandler error handler win_handles\nin MPI_File_call_errhandler error handler file_handles\n"
       "in MPI_Wait function of a generalised request queries\nin MPI_Cancel function of a generalised request cancels");
  MPI_Finalize();
  return 0;
}
C
sed -i 's/#include <mpi.h>/&\n#if defined(OPEN_MPI)\n#include <mpi-ext.h>\n#endif/' app.c
build_program app burn.o
own_work 2 16 app
rm rank.*

# Two threads at a time, each with a communicator and an operation; a killed run of one rank has the same records.
cat >threads.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
double burn(void), burn_lost(void);
static double first_took, second_took;
static void first(void* in, void* out, int* n, MPI_Datatype* t) { *(int*)out += *(int*)in; first_took += burn(); }
static void second(void* in, void* out, int* n, MPI_Datatype* t) { *(int*)out += 2 * *(int*)in; second_took += burn(); }
static void* reduce(void* function) {
  MPI_Op op;
  int x = 1, y = 1;
  MPI_Op_create(function, 1, &op);
  for (int i = 0; i < 10; ++i) MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
  MPI_Op_free(&op);
  return NULL;
}
int main(int argc, char** argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  freopen("rank.0", "w", stdout);
  pthread_create(&thread, NULL, reduce, first);
  reduce(second);
  pthread_join(thread, NULL);
  printf("took first %.9f\ntook second %.9f\nin MPI_Reduce_local user operation second\n", first_took, second_took);
  printf("lost %.9f\n", burn_lost());
  fflush(stdout);
  if (argc > 1) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}
C
build_program threads burn.o -pthread
own_work 1 2 threads
trace 1 ./threads die >err.txt 2>&1 && fail "a killed run succeeded"
recover_ended
cp rank.0 out.txt
"$python" check.py 2 || fail "own work of a recovered run"

# 300 functions: the tracer interposes 256 of them, and the program's own are used for the others.
cat >many.c <<'C'
#include <mpi.h>
#include <stdio.h>
#define OP(n) static void op##n(void* in, void* out, int* k, MPI_Datatype* t) { *(int*)out += n; }
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define HUNDRED(m, n) TEN(m, n##0) TEN(m, n##1) TEN(m, n##2) TEN(m, n##3) TEN(m, n##4) \
  TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) TEN(m, n##8) TEN(m, n##9)
#define NAME(n) op##n,
HUNDRED(OP, 1) HUNDRED(OP, 2) HUNDRED(OP, 3)
static MPI_User_function* const all[] = {HUNDRED(NAME, 1) HUNDRED(NAME, 2) HUNDRED(NAME, 3)};
int main(int argc, char** argv) {
  int x = 0, y = 0;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 300; ++i) {
    MPI_Op_create(all[i], 1, &op);
    MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
    MPI_Op_free(&op);
  }
  printf("sum %d\n", y);
  MPI_Finalize();
  return 0;
}
C
build_program many
trace 1 ./many >out.txt || fail "many: exit code $?"
# 100 + ... + 399.
[ "$(cat out.txt)" = "sum 74850" ] || fail "many: $(cat out.txt)"
expect 256 'RUBATO_OWN_WORK" <[0-9]*>; UINT64'

# Fortran.
needs_fortran
cat >fapp.f90 <<'F'
module functions
#ifdef F08
  use mpi_f08
#define COMM type(MPI_Comm)
#define TYPES type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define OPERATION type(MPI_Op)
#define HANDLER type(MPI_Errhandler)
#define STATUS type(MPI_Status)
#else
  use mpi
#define COMM integer
#define TYPES integer
#define REQUEST integer
#define OPERATION integer
#define HANDLER integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif
  use iso_c_binding
  implicit none
  real(8) :: adds_took = 0, copies_took = 0, deletes_took = 0, handles_took = 0, queries_took = 0
  integer(kind=MPI_ADDRESS_KIND), parameter :: extra_state = 1234567890123_MPI_ADDRESS_KIND
  interface
    real(c_double) function burn() bind(C)
      use iso_c_binding
    end function
    real(c_double) function burn_lost() bind(C)
      use iso_c_binding
    end function
  end interface
contains
  subroutine must(good)
    logical, intent(in) :: good
    integer :: ierror
    if (.not. good) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  end subroutine
#ifdef F08
  subroutine adds(in, out, n, kind)
    type(c_ptr), value :: in, out
    integer :: n
    type(MPI_Datatype) :: kind
    integer, pointer :: x(:), y(:)
    call c_f_pointer(in, x, [n])
    call c_f_pointer(out, y, [n])
    call must(kind == MPI_INTEGER)
    y = x + y
    adds_took = adds_took + burn()
  end subroutine
#else
  subroutine adds(x, y, n, kind)
    integer :: n, kind, x(n), y(n)
    call must(kind == MPI_INTEGER)
    y = x + y
    adds_took = adds_took + burn()
  end subroutine
#endif
  subroutine copies(comm, key, extra, in, out, flag, ierror)
    COMM :: comm
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call must(comm == MPI_COMM_WORLD .and. extra == extra_state .and. in == 77)
    out = in + 1
    flag = .true.
    ierror = MPI_SUCCESS
    copies_took = copies_took + burn()
  end subroutine
  subroutine deletes(comm, key, value, extra, ierror)
    COMM :: comm
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call must(extra == extra_state .and. (value == 77 .or. value == 78))
    ierror = MPI_SUCCESS
    deletes_took = deletes_took + burn()
  end subroutine
  subroutine handles(comm, code)
    COMM :: comm
    integer :: code
    call must(comm == MPI_COMM_WORLD .and. code == MPI_ERR_OTHER)
    handles_took = handles_took + burn()
  end subroutine
  subroutine queries(extra, stat, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS :: stat
    integer :: ierror
    call must(extra == extra_state)
    call MPI_Status_set_elements(stat, MPI_BYTE, 7, ierror)
    call MPI_Status_set_cancelled(stat, .false., ierror)
    queries_took = queries_took + burn()
    ierror = MPI_SUCCESS
  end subroutine
  subroutine frees(extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    call must(extra == extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancels(extra, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module
program fapp
  use functions
  implicit none
  OPERATION :: op
  COMM :: copy
  REQUEST :: r
  HANDLER :: handler
  STATUS :: stat
  integer :: ierror, rank, key, count, x(3), y(3)
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  character(6) :: file
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  write (file, '(a,i1)') 'rank.', rank
  open (unit=6, file=file, status='replace')
  x = [1, 2, 3]
  call MPI_Op_create(adds, .true., op, ierror)
  call MPI_Allreduce(x, y, 3, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  call MPI_Iallreduce(y, x, 3, MPI_INTEGER, op, MPI_COMM_WORLD, r, ierror)
  call MPI_Op_free(op, ierror)
  call MPI_Wait(r, stat, ierror)
  print '(a,4i4)', 'sums', rank, x
  value = 77
  call MPI_Comm_create_keyval(copies, deletes, key, extra_state, ierror)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  call MPI_Comm_get_attr(copy, key, value, flag, ierror)
  print '(a,i4,i8,l4)', 'copied', rank, value, flag
  call MPI_Comm_free(copy, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra_state, ierror)
  value = 55
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  call MPI_Comm_get_attr(copy, key, value, flag, ierror)
  print '(a,i4,i8,l4)', 'copied', rank, value, flag
  call MPI_Comm_create_errhandler(handles, handler, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierror)
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierror)
  call MPI_Grequest_start(queries, frees, cancels, extra_state, r, ierror)
  call MPI_Grequest_complete(r, ierror)
  call MPI_Wait(r, stat, ierror)
  call MPI_Get_elements(stat, MPI_BYTE, count, ierror)
  print '(a,2i4)', 'status', rank, count
  print '(a,f12.9)', 'took __functions_MOD_adds ', adds_took, 'took __functions_MOD_copies ', copies_took, &
    'took __functions_MOD_deletes ', deletes_took, 'took __functions_MOD_handles ', handles_took, &
    'took __functions_MOD_queries ', queries_took, 'lost ', burn_lost()
  print '(a)', 'in MPI_Allreduce user operation __functions_MOD_adds'
  print '(a)', 'in MPI_Comm_dup attribute copy function __functions_MOD_copies'
  print '(a)', 'in MPI_Comm_free attribute delete function __functions_MOD_deletes'
  print '(a)', 'in MPI_Comm_call_errhandler error handler __functions_MOD_handles'
  print '(a)', 'in MPI_Wait function of a generalised request __functions_MOD_queries'
  call MPI_Finalize(ierror)
end program
F
build_fortran fapp burn.o
own_work 2 5 fapp
cp fapp.f90 f08app.f90
build_fortran f08app burn.o -DF08
own_work 2 5 f08app
pass
