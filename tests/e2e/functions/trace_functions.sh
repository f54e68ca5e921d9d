#!/bin/sh
# Functions of programs compiled with -finstrument-functions become regions: nested, with names and lines, also
# functions left open by longjmp(), exceptions, switches of recording and a kill. Only with --functions.
. "$(dirname "$0")/../lib.sh"

# region NAME: enter and leave records of it.
region() { expect "$1" "^ENTER .*\"$2\""; expect "$1" "^LEAVE .*\"$2\""; }

cat >app.c <<'C'
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
jmp_buf back;
volatile int sum;
static void leaf(void) { ++sum; }
static void thrower(int depth) {
  if (depth == 0) longjmp(back, 1);
  thrower(depth - 1);
}
static void jumps(void) {
  if (setjmp(back) == 0) thrower(2);
}
void work(int rank) {
  for (int i = 0; i < 10; ++i) leaf();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) jumps();
}
/* An MPI_Op's function runs inside MPI: not recorded. */
void add(void* a, void* b, int* n, MPI_Datatype* t) { *(int*)b += *(int*)a; }
static void left_while_off(void) { MPI_Pcontrol(0); }
static void entered_while_off(void) { MPI_Pcontrol(1); }
static void start(int* argc, char*** argv) { MPI_Init(argc, argv); }
void only_on_2(void) { leaf(); }
static void die(int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void finish(void) { MPI_Finalize(); }
int main(int argc, char** argv) {
  int rank, one = 1, all;
  MPI_Op op;
  start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  work(rank);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  left_while_off();
  leaf();
  entered_while_off();
  if (rank == 2) only_on_2();
  if (argc > 1) die(rank);
  finish();
  return 0;
}
C
build_program app -g -finstrument-functions
trace 3 --functions ./app || fail "exit code $?"
check_archive
check_replay
region 3 work
region 31 leaf
region 3 thrower
region 1 jumps
region 3 left_while_off
region 1 only_on_2
region 3 finish
region 0 main
region 0 start
region 0 add
region 0 entered_while_off
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
grep -q "REGION .*Name: \"leaf\" .*Role: FUNCTION, Paradigm: COMPILER.*app.c\" .*Begin: 7," definitions.txt ||
  fail "$(grep '"leaf"' definitions.txt)"
[ "$(grep -c '^REGION .*Paradigm: COMPILER' definitions.txt)" = 7 ] || fail "$(grep 'COMPILER' definitions.txt)"
# 2 of the functions skipped by longjmp() are in jumps(), and end with it; work() continues.
"$python" - <<'P' || fail "nesting"
import otf2
from otf2 import events
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    stack, inside = {}, set()
    for location, event in trace.events:
        open_here = stack.setdefault(location, [])
        if isinstance(event, events.Enter):
            inside.add((open_here[-1] if open_here else '', event.region.name))
            open_here.append(event.region.name)
        elif isinstance(event, events.Leave):
            assert open_here.pop() == event.region.name
    assert not any(stack.values()), stack
    for pair in [('work', 'leaf'), ('work', 'MPI_Barrier'), ('work', 'jumps'), ('jumps', 'thrower'),
                 ('thrower', 'thrower'), ('', 'work'), ('only_on_2', 'leaf'), ('finish', 'MPI_Finalize'),
                 ('', 'MPI_Allreduce'), ('left_while_off', 'MPI_Pcontrol')]:
        assert pair in inside, pair
    assert ('left_while_off', 'only_on_2') not in inside
P

# A killed program: `rubato recover` finds the names; open functions end with the job.
trace 3 --functions ./app die >out.txt 2>err.txt && fail "exit code 0"
recover_ended
check_archive
check_replay
region 3 work
region 3 die
region 31 leaf
region 1 only_on_2

# Chosen by name; names exist even without debug information.
build_program app -finstrument-functions
cat >rules <<'R'
# all but the leaves
exclude *
include *o*
exclude lea?
exclude only*
R
trace 3 --function-filter rules ./app || fail "exit code $?"
check_archive
region 3 work
region 0 leaf
region 3 thrower
region 0 only_on_2
region 0 jumps
region 3 left_while_off
echo 'omit leaf' >bad
expect_failure 1 "bad:1: expected 'include PATTERN'" "$rubato" trace -o other.otf2dir --function-filter bad ./app
expect_failure 1 "none cannot be read" "$rubato" trace -o other.otf2dir --function-filter none ./app

# C++, with a library that is loaded during the run.
cat >part.cc <<'C'
namespace part { int twice(int x) { return 2 * x; } }
extern "C" int call_part(int x) { return part::twice(x); }
C
cat >app.cc <<'C'
#include <dlfcn.h>
#include <mpi.h>
#include <stdexcept>
namespace tools {
template <class T> struct Box {
  explicit Box(T v) : value(v) {}
  T get() const { return value; }
  T value;
};
void fails(int depth) {
  if (depth == 0) throw std::runtime_error("as planned");
  fails(depth - 1);
}
}  // namespace tools
static int guarded() {
  try {
    tools::fails(3);
  } catch (const std::exception&) {
    return 1;
  }
  return 0;
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int x = guarded() + tools::Box<int>(4).get();
  void* library = dlopen("./libpart.so", RTLD_NOW);
  auto call = reinterpret_cast<int (*)(int)>(dlsym(library, "call_part"));
  MPI_Barrier(MPI_COMM_WORLD);
  x = call(x);
  MPI_Finalize();
  return x != 10;
}
C
g++ -O0 -g -fPIC -shared -finstrument-functions -o libpart.so part.cc
"mpicxx.$flavour" -O0 -g -w -finstrument-functions -finstrument-functions-exclude-file-list=/usr/ -o app++ app.cc -ldl
trace 2 --functions ./app++ || fail "exit code $?"
check_archive
check_replay
region 2 'guarded()'
region 8 'tools::fails(int)'
region 2 'tools::Box<int>::Box(int)'
region 2 'tools::Box<int>::get() const'
region 2 'call_part'
region 2 'part::twice(int)'
otf2-print -G run.otf2dir/traces.otf2 | grep -q 'part::twice(int)".*part.cc".*Begin: 1,' ||
  fail "$(otf2-print -G run.otf2dir/traces.otf2 | grep twice)"

# Threads, one without MPI calls, with enough segments that some are moved and read back.
cat >threads.c <<'C'
#include <mpi.h>
#include <pthread.h>
volatile int sum;
void step(void) { ++sum; }
void* quiet(void* p) { for (int i = 0; i < 100000; ++i) step(); return 0; }
int main(int argc, char** argv) {
  int provided;
  pthread_t t;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  pthread_create(&t, 0, quiet, 0);
  for (int i = 0; i < 100000; ++i) step();
  pthread_join(t, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
build_program threads -finstrument-functions -pthread
trace 2 --functions --memory 512KiB ./threads || fail "exit code $?"
check_archive
check_replay
# Equal numbers of enters and leaves are not recorded, to measure the cost of a record.
unrecorded=$(otf2-print -I run.otf2dir/traces.otf2 | grep -A1 'RUBATO::UNRECORDED_FUNCTIONS$' | awk 'END { print $NF }')
region $((400000 - unrecorded / 2)) step
region 2 quiet
[ "$(otf2-print -G run.otf2dir/traces.otf2 | grep -c '^LOCATION .*CPU_THREAD')" = 4 ] || fail "locations"

# Without the option no functions are recorded; and a program with its own hooks keeps them.
trace 3 ./app || fail "exit code $?"
check_archive
region 0 work
[ "$(otf2-print -G run.otf2dir/traces.otf2 | grep -c -i 'compiler')" = 0 ] || fail "regions though not asked for"
cat >own.c <<'C'
#include <mpi.h>
static int seen;
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void* f, void* site) { ++seen; }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void* f, void* site) {}
void work(void) {}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  work();
  MPI_Finalize();
  return seen != 2;
}
C
build_program own -finstrument-functions
trace 1 --functions ./own || fail "the program's own functions were not called"
region 0 work

# Programs without recorded functions: a line gives the reason, and so do commands that need functions of the archive.
# none WHY: checks run.otf2dir.
none() {
  [ "$(grep -c '^rubato: ' err.txt)" = 2 ] || fail "not two lines: $(cat err.txt)"
  [ "$(grep -c "^rubato: no functions were recorded: $1" err.txt)" = 1 ] || fail "not '$1': $(cat err.txt)"
  otf2-print -I run.otf2dir/traces.otf2 | grep -A1 RUBATO::FUNCTIONS | grep -q "value  *false: $1" ||
    fail "$(otf2-print -I run.otf2dir/traces.otf2)"
  "$rubato" advise run.otf2dir --on perfect >advice.txt 2>&1 || fail "advise: $(cat advice.txt)"
  tr -s '\n ' '  ' <advice.txt | grep -q "No functions were recorded: this run was traced with --functions, but $1" ||
    fail "advise: $(cat advice.txt)"
  ! grep -q "'rubato trace --functions' records them" advice.txt || fail "advise: $(cat advice.txt)"
  code=0
  "$rubato" replay run.otf2dir --on 'perfect:region=work*0.5' >out.txt 2>&1 || code=$?
  [ $code = 1 ] && grep -q "nor any other; this run was traced with --functions, but $1" out.txt || fail "replay: $(cat out.txt)"
}
cat >bare.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#ifdef OWN
static int hooks;
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void* function, void* site) { ++hooks; }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void* function, void* site) { ++hooks; }
#endif
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) kill(getpid(), SIGKILL);
  return MPI_Finalize();
}
C
build_program bare
trace 2 --functions ./bare 2>err.txt || fail "exit code $?"
none 'the program is not compiled with -finstrument-functions'
grep -q 'mpicc -g -finstrument-functions' err.txt || fail "no compile line: $(cat err.txt)"
trace 2 --functions ./bare kill >out.txt 2>err.txt && fail "exit code 0"
sleep 1
"$rubato" recover run.otf2dir >out.txt 2>&1 || fail "recover: $(cat out.txt)"
otf2-print -I run.otf2dir/traces.otf2 | grep -A1 RUBATO::FUNCTIONS | grep -q 'value  *false: the program is not' ||
  fail "recovered: $(otf2-print -I run.otf2dir/traces.otf2)"
# Only main(), which is entered before MPI_Init.
build_program bare -finstrument-functions
trace 2 --functions ./bare 2>err.txt || fail "exit code $?"
none 'no function that is compiled for it ran while functions were recorded'
build_program bare -finstrument-functions -DOWN
trace 2 --functions ./bare 2>err.txt || fail "exit code $?"
none 'the program has a __cyg_profile_func_enter of its own'
# With functions, or without the option, no line is printed.
trace 2 ./bare 2>err.txt || fail "exit code $?"
one_report err.txt
! otf2-print -I run.otf2dir/traces.otf2 | grep -q RUBATO::FUNCTIONS || fail "functions were not asked for"
"$rubato" advise run.otf2dir --on perfect >advice.txt 2>&1 || fail "advise: $(cat advice.txt)"
grep -q "No functions were recorded: 'rubato trace --functions' records them" advice.txt || fail "advise: $(cat advice.txt)"
build_program bare2 -finstrument-functions <<'C'
#include <mpi.h>
void work(void) { MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char** argv) { MPI_Init(&argc, &argv); work(); return MPI_Finalize(); }
C
trace 2 --functions ./bare2 2>err.txt || fail "exit code $?"
one_report err.txt
otf2-print -I run.otf2dir/traces.otf2 | grep -A1 RUBATO::FUNCTIONS | grep -q 'value  *true' || fail "functions are there"
pass
