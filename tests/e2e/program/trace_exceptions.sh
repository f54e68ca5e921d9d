#!/bin/sh
# Stack unwinding through MPI functions also works through the tracer: an exception thrown by an error handler, and a
# thread cancelled inside a call. Later calls are recorded as usual.
. "$(dirname "$0")/../lib.sh"
command -v "mpicxx.$flavour" >/dev/null || skip "there is no mpicxx.$flavour"
cat >app.cc <<'CC'
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

static void raise(MPI_Comm*, int*, ...) { throw std::runtime_error("MPI"); }

static void* receive(void*) {
  int x;
  MPI_Recv(&x, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);  // no sender
  return nullptr;
}

int main(int argc, char** argv) {
  int provided, caught = 0, x = 0;
  // With threads MPICH does not survive an exception, traced or not.
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(raise, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  for (int i = 0; i < 10; ++i) {
    try {
      MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_SELF);  // no such rank
    } catch (const std::runtime_error&) {
      ++caught;
    }
    MPI_Request request;
    int y;
    MPI_Irecv(&y, 1, MPI_INT, 0, i, MPI_COMM_SELF, &request);
    MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  std::printf("%d\n", caught);
  if (argc > 1) {
    pthread_t thread;
    void* result;
    pthread_create(&thread, nullptr, receive, nullptr);
    usleep(100000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    std::printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_Finalize();
}
CC
"mpicxx.$flavour" -O1 -w -pthread -o app app.cc
run 1 timeout 20 ./app >plain.txt 2>&1 || skip "this MPI passes no exceptions on: $(tail -1 plain.txt)"
trace 1 ./app >out.txt || fail "exit code $?"
cmp -s out.txt plain.txt || fail "traced: $(cat out.txt), else: $(cat plain.txt)"
check_archive
expect 10 '^MPI_SEND '
expect 10 '^MPI_IRECV '
# MPICH does not let a thread be cancelled in MPI_Recv.
if run 1 timeout 5 ./app cancel >plain.txt 2>&1; then
  trace 1 timeout 20 ./app cancel >out.txt || fail "cancelled: exit code $?"
  cmp -s out.txt plain.txt || fail "traced: $(cat out.txt), else: $(cat plain.txt)"
  check_archive
  expect 10 '^MPI_IRECV '
  expect 1 '^MPI_COLLECTIVE_END .*Operation: BARRIER'
fi
pass
