#!/bin/sh
# The call path of each MPI call is what glibc's backtrace() sees there: in programs without frame pointers, with
# alloca(), recursion, realigned stacks, callbacks from libc and threads; position-independent or not, stripped, in
# Fortran, and recovered.
. "$(dirname "$0")/../lib.sh"
cat >app.c <<'C'
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static FILE* judge;
static int rank, size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define KEEP __asm__ volatile("" : : : "memory")
/* "CALL main > ... > caller" by backtrace(): frame 0 is this function. */
__attribute__((noipa)) void says(const char* call) {
  void* frames[300];
  char line[8192] = "";
  int depth = backtrace(frames, 300);
  for (int i = 1; i < depth; ++i) {
    Dl_info info;
    char before[8192];
    if (!dladdr((char*)frames[i] - 1, &info) || !info.dli_sname) strcpy(before, "?");
    else strcpy(before, info.dli_sname);
    if (*line) strcat(strcat(before, " > "), line);
    strcpy(line, before);
    if (strncmp(line, "main", 4) == 0 || strncmp(line, "work", 4) == 0) break;
  }
  pthread_mutex_lock(&lock);
  fprintf(judge, "%s %s\n", call, line);
  pthread_mutex_unlock(&lock);
  KEEP;
}
__attribute__((noipa)) void exchange(int n, int tag) {
  char* p = alloca(64 * n + 16);
  memset(p, 0, 16);
  says("MPI_Sendrecv_replace");
  MPI_Sendrecv_replace(p, 8, MPI_BYTE, rank ^ 1, tag, rank ^ 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  __asm__ volatile("" : : "r"(p) : "memory");
}
__attribute__((noipa)) void aligned(int n) {
  _Alignas(64) char p[256];
  __asm__ volatile("" : : "r"(p) : "memory");
  exchange(n, 1);
  __asm__ volatile("" : : "r"(p) : "memory");
}
__attribute__((noipa)) void burn(int n) { n % 2 ? aligned(n) : exchange(n, 1); KEEP; }
__attribute__((noipa)) void assemble(int n) { burn(n); KEEP; }
__attribute__((noipa)) void recurse(int n) { if (n == 0) exchange(3, 1); else recurse(n - 1); KEEP; }
__attribute__((noipa)) int compare(const void* a, const void* b) {
  says("MPI_Comm_size");
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return *(const int*)a - *(const int*)b;
}
__attribute__((noipa)) void* work(void* none) { exchange(1, 2); KEEP; return none; }
int main(int argc, char** argv) {
  int provided, x[2] = {2, 1};
  char name[64];
  pthread_t thread;
  void* warm[2];
  backtrace(warm, 2);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sprintf(name, "judge.%d", rank);
  judge = fopen(name, "w");
  for (int i = 0; i < 6; ++i) assemble(i);
  recurse(40);
  for (int i = 0; i < 3; ++i) recurse(i);
  qsort(x, 2, sizeof x[0], compare);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  fclose(judge);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && rank == 0) kill(getpid(), SIGKILL);
  if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
# paths.py: "CALL main > ... > caller" of each call in the archive; names of libc's own frames as dladdr() has them.
cat >paths.py <<'P'
import otf2, re
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    for location, event in trace.events:
        if not isinstance(event, otf2.events.Enter):
            continue
        context = next((v for k, v in (event.attributes or {}).items() if k.name == 'RUBATO_CALL_PATH'), None)
        names = []
        while context is not None:
            name = context.region.name
            names.append('?' if name.startswith('libc.so') else name)
            context = context.parent
        print(event.region.name, ' > '.join(reversed(names)))
P
paths() {
  "$python" paths.py >all.txt 2>python.txt || fail "$(cat python.txt)"
  grep -E '^(MPI_Sendrecv_replace|MPI_Comm_size) ' all.txt | sed 's/qsort_r > ? >/? >/; s/qsort > ? >/? >/; s/? > ? >/? >/' | sort >paths.txt
}
# What backtrace() said. (It does not know names of libc's local functions.)
judged() { sed 's/qsort_r > ? >/? >/; s/qsort > ? >/? >/; s/? > ? >/? >/' judge.0 judge.1 | sort; }
same_paths() {
  paths
  judged >judged.txt
  [ "$(wc -l <judged.txt)" = 24 ] || fail "$1: $(wc -l <judged.txt) calls"
  diff judged.txt paths.txt >difference.txt || fail "$1: $(cat difference.txt)"
}
for flags in "-O2 -g" "-O0" "-O3 -no-pie -fno-pie" "-O2 -fno-omit-frame-pointer"; do
  # shellcheck disable=SC2086  # several flags
  build_program app -rdynamic -pthread $flags -ldl
  trace 2 --call-paths ./app || fail "exit code $?"
  check_archive
  check_replay
  same_paths "$flags"
done
# Other calls, and the lines.
grep -qx 'MPI_Barrier main' all.txt && grep -qx 'MPI_Init_thread main' all.txt || fail "$(cat all.txt)"
# A property tells what a path costs: some ns, under a millisecond.
cost=$(otf2-print -I run.otf2dir/traces.otf2 | grep -A1 'RUBATO::OVERHEAD_CALL_PATH$' | awk 'END { print $NF }')
awk -v cost="$cost" 'BEGIN { exit !(cost > 1e-9 && cost < 1e-3) }' || fail "a path costs '$cost' s"

# Stripped: dynamic symbols are left, the program's other functions are MODULE+0xOFFSET of their beginning.
strip -s app
trace 2 --call-paths ./app || fail "exit code $?"
same_paths stripped
build_program app -O2 -pthread -ldl
strip -s app
trace 2 --call-paths ./app || fail "exit code $?"
check_archive
paths
# recurse(40): main, 41 times recurse, exchange.
longest=$(awk '{ if (NF > n) { n = NF; line = $0 } } END { print line }' paths.txt)
echo "$longest" | tr '>' '\n' | sed 's/.*app/app/; s/ $//' | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ' >counts.txt
[ "$(cat counts.txt)" = "1 1 41 " ] || fail "stripped: $longest"

# A killed program.
build_program app -O2 -rdynamic -pthread -ldl
trace 2 --call-paths ./app die >out.txt 2>err.txt && fail "exit code 0"
recover_ended
check_archive
same_paths recovered

# Reports name the caller without compiler instrumentation.
trace 2 --call-paths ./app || fail "exit code $?"
"$rubato" profile run.otf2dir --all --json profile.json --csv profile.csv >profile.txt || fail "profile"
"$python" - <<'P' || fail "profile: $(cat profile.txt)"
import json
sites = json.load(open('profile.json'))['scenarios'][0]['call_sites']
sends = [s for s in sites if s['call'] == 'MPI_Sendrecv_replace']
# 11 calls on each rank, each sends and receives 8 bytes.
assert sum(s['calls'] for s in sends) == 22, sends
assert sum(s['bytes'] for s in sends) == 22 * 16, sends
names = [' > '.join(p.split(' ')[0] for p in s['path']) for s in sends]
even = names.index('main > assemble > burn > exchange')
odd = names.index('main > assemble > burn > aligned > exchange')
for i in even, odd:  # 3 of 6 calls on each of two ranks
    s = sends[i]
    assert s['calls'] == 6 and s['ranks'] == 2 and s['messages'] == 12, s
    assert s['size_min'] == s['size_max'] == 8, s
    assert s['time_min'] <= s['time_mean'] <= s['time_max'] <= s['time'], s
    assert abs(s['time_mean'] * 6 - s['time']) < 1e-9, s
    assert 0 < s['rank_time_min'] <= s['rank_time_max'] < s['time'], s
    assert abs(s['rank_time_min'] + s['rank_time_max'] - s['time']) < 1e-9, s  # of two ranks
assert 'work > exchange' in names, names
P
grep -q 'MPI_Sendrecv_replace: main.* > assemble.* > burn' profile.txt || fail "$(cat profile.txt)"
grep -q '^measured,site_calls,"*MPI_Sendrecv_replace: work' profile.csv || fail "$(grep site_ profile.csv)"

# Without the option.
trace 2 ./app || fail "exit code $?"
otf2-print -G run.otf2dir/traces.otf2 | grep -q 'CALLING_CONTEXT\|RUBATO_CALL_PATH' && fail "definitions though not asked for"
expect_failure 2 "--no-archive excludes --call-paths" "$rubato" trace --no-archive --call-paths ./app

command -v gfortran >/dev/null && command -v "mpif90.$flavour" >/dev/null || { pass; exit 0; }
cat >fortran.f90 <<'F'
module work
  use mpi
contains
  subroutine exchange(rank)
    integer :: rank, x, error
    x = rank
    call MPI_Sendrecv_replace(x, 1, MPI_INTEGER, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine
  subroutine assemble(rank)
    integer :: rank, error
    call exchange(rank)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine
end module
program fortran
  use work
  integer :: rank, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call assemble(rank)
  call MPI_Finalize(error)
end program
F
build_fortran fortran -g -fno-inline
trace 2 --call-paths ./fortran || fail "exit code $?"
check_archive
paths
[ "$(grep -cx 'MPI_Sendrecv_replace main > MAIN__ > __work_MOD_assemble > __work_MOD_exchange' all.txt)" = 2 ] || fail "$(cat all.txt)"
[ "$(grep -cx 'MPI_Barrier main > MAIN__ > __work_MOD_assemble' all.txt)" = 2 ] || fail "$(cat all.txt)"
pass
