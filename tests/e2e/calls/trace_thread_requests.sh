#!/bin/sh
# MPI_THREAD_MULTIPLE: between MPI's own work in a call that completes a request and the tracer's, another thread
# may get the same handle for a new request. Each keeps its own number, kind and communicator. The program has
# functions PMPI_* of its own, which the tracer finds before MPI's: there the other thread runs.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread -rdynamic -ldl <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdint.h>
static sem_t go, done;
static __thread int armed;
static void (*other)(void);
static int reused, cases;
static MPI_Comm world, twin;

static void let_other_run(void) {
  if (!armed) return;
  armed = 0;
  sem_post(&go);
  sem_wait(&done);
}
#define AROUND(name, declared, passed)                     \
  int name declared {                                      \
    static int(*real) declared;                            \
    if (!real) real = dlsym(RTLD_NEXT, #name);             \
    int rc = real passed;                                  \
    let_other_run();                                       \
    return rc;                                             \
  }
AROUND(PMPI_Wait, (MPI_Request* r, MPI_Status* s), (r, s))
AROUND(PMPI_Test, (MPI_Request* r, int* f, MPI_Status* s), (r, f, s))
AROUND(PMPI_Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
AROUND(PMPI_Waitany, (int n, MPI_Request* r, int* i, MPI_Status* s), (n, r, i, s))
AROUND(PMPI_Request_free, (MPI_Request* r), (r))
AROUND(PMPI_Mrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* s), (b, n, t, m, s))
AROUND(PMPI_Imrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* r), (b, n, t, m, r))

/* What the two threads have: the first one's handle, and buffers. */
static uintptr_t first;
static int x[8], y[8];
static void saw(uintptr_t handle) { ++cases; reused += handle == first; }

/* The other thread's part: even tags, on the twin communicator. */
static void other_receives(void) {
  MPI_Request r;
  MPI_Irecv(y + 1, 2, MPI_INT, 0, 2, twin, &r);
  saw((uintptr_t)r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void other_sends(void) {
  MPI_Request r;
  MPI_Issend(x, 2, MPI_INT, 0, 4, twin, &r);
  saw((uintptr_t)r);
  int flag = 0;
  while (!flag) MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}
static void other_probes(void) {
  MPI_Message m;
  MPI_Mprobe(0, 2, twin, &m, MPI_STATUS_IGNORE);
  saw((uintptr_t)m);
  MPI_Mrecv(y + 1, 2, MPI_INT, &m, MPI_STATUS_IGNORE);
}
static void* second_thread(void* unused) {
  for (sem_wait(&go); other; sem_wait(&go)) {
    other();
    sem_post(&done);
  }
  return unused;
}

/* Its part is done inside the next completion of this thread; at once without the tracer. */
static void with(void (*part)(void)) { other = part; armed = 1; }
static void first_receives(int how) {
  MPI_Request s[2], r, r2[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index;
  MPI_Isend(x, 1, MPI_INT, 0, 1, world, &s[0]);
  MPI_Isend(x, 2, MPI_INT, 0, 2, twin, &s[1]);
  MPI_Irecv(y, 1, MPI_INT, 0, 1, world, &r);
  first = (uintptr_t)r;
  with(other_receives);
  if (how == 0) {
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  } else {
    r2[1] = r;
    if (how == 1) MPI_Waitall(2, r2, MPI_STATUSES_IGNORE);
    else MPI_Waitany(2, r2, &index, MPI_STATUS_IGNORE);
  }
  let_other_run();
  MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
}
static void first_sends(int freed) {
  MPI_Request s, r[2];
  MPI_Irecv(y, 1, MPI_INT, 0, 3, world, &r[0]);
  MPI_Irecv(y + 1, 2, MPI_INT, 0, 4, twin, &r[1]);
  MPI_Issend(x, 1, MPI_INT, 0, 3, world, &s);
  first = (uintptr_t)s;
  if (freed) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  with(other_sends);
  freed ? MPI_Request_free(&s) : MPI_Wait(&s, MPI_STATUS_IGNORE);
  let_other_run();
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
static void first_probes(int request) {
  MPI_Request s[2], r;
  MPI_Message m;
  MPI_Isend(x, 1, MPI_INT, 0, 1, world, &s[0]);
  MPI_Isend(x, 2, MPI_INT, 0, 2, twin, &s[1]);
  MPI_Mprobe(0, 1, world, &m, MPI_STATUS_IGNORE);
  first = (uintptr_t)m;
  with(other_probes);
  request ? MPI_Imrecv(y, 1, MPI_INT, &m, &r) : MPI_Mrecv(y, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
  let_other_run();
  if (request) MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
}
int main(int argc, char** argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) { MPI_Finalize(); return 77; }
  world = MPI_COMM_WORLD;
  MPI_Comm_dup(world, &twin);
  sem_init(&go, 0, 0);
  sem_init(&done, 0, 0);
  pthread_create(&thread, 0, second_thread, 0);
  for (int i = 0; i < 20; ++i) {
    for (int how = 0; how < 3; ++how) first_receives(how);
    for (int how = 0; how < 2; ++how) first_sends(how);
    for (int how = 0; how < 2; ++how) first_probes(how);
  }
  other = 0;
  sem_post(&go);
  pthread_join(thread, 0);
  MPI_Comm_free(&twin);
  printf("%d %d\n", reused, cases);
  return MPI_Finalize();
}
C
run 1 ./app >/dev/null || { [ $? = 77 ] && skip "no MPI_THREAD_MULTIPLE here"; fail "without the tracer"; }
trace 1 ./app >out.txt || fail "exit code $?"
read -r reused cases <out.txt
# 20 rounds of 3 + 2 + 2 cases. If the library gave no handle twice, this would show nothing.
[ "$cases" = 140 ] && [ "$reused" -ge 40 ] || fail "handles used again: $(cat out.txt)"
check_archive
# The first thread has odd tags on MPI_COMM_WORLD and, for its partner in each case, even ones on the twin; the
# second one has only even ones on the twin. Each round the first posts 2 sends in 5 cases and 1 in 2, and
# completes them; it receives 1 message by a request in 3 + 1 cases, by MPI_Mrecv in 1, and 2 by requests in 2.
# The second sends in 2 cases, receives by a request in 3, by MPI_Mrecv in 2.
cat >expected.txt <<'END'
0 MpiIrecv 160
0 MpiIrecvRequest 160
0 MpiIsend 240
0 MpiIsendComplete 240
0 MpiRecv 20
1 MpiIrecv 60
1 MpiIrecvRequest 60
1 MpiIsend 40
1 MpiIsendComplete 40
1 MpiRecv 40
END
"$python" - >counts.txt <<'PYTHON' || fail "$(cat counts.txt)"
import collections, sys, otf2
seen = collections.Counter()
with otf2.reader.open('run.otf2dir/traces.otf2') as trace:
    for location, event in trace.events:
        kind, thread = type(event).__name__, location._ref >> 32
        if not kind.startswith(('MpiI', 'MpiRecv')):
            continue
        seen[thread, kind] += 1
        # The number of a request says which thread posted it: here also the one that completes it.
        number = getattr(event, 'request_id', None)
        if number is not None and number >> 40 != thread:
            sys.exit(print(f'thread {thread}: {kind} of a request of thread {number >> 40}') or 1)
        tag = getattr(event, 'msg_tag', None)
        if tag is not None:
            on_world = event.communicator.name == 'MPI_COMM_WORLD'
            if on_world != (tag % 2 == 1) or (thread == 1 and on_world):
                sys.exit(print(f'thread {thread}: {kind} of tag {tag} on {event.communicator.name}') or 1)
            if event.msg_length != (4 if on_world else 8):
                sys.exit(print(f'thread {thread}: {kind} of tag {tag} has {event.msg_length} bytes') or 1)
for (thread, kind), n in sorted(seen.items()):
    print(thread, kind, n)
PYTHON
diff expected.txt counts.txt >diff.txt || fail "$(cat diff.txt)"
pass
