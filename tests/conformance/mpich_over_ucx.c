/* Preloaded by mpich_suite_mpiexec.sh, the laboratory and tests on several nodes, for MPICH above UCX. Two things that it cannot be told:

   Ranks yield. They wait for messages without ever giving up their core; with more processes than cores most of the
   time is then spent waiting for descheduled ranks. Here they yield when UCX has found nothing to do a few times.

   Ranks end. MPI_Finalize of MPICH 4.0 closes its connections and then waits in a barrier of the launcher, deaf to UCX.
   A rank that closes one a moment later waits for ever for the answer of a peer that is there already (pmodels/mpich
   pull request 6596 removes the barrier). Here who reads from the launcher answers peers meanwhile. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void* open_worker; /* of UCX, in the main thread */

static unsigned progress(void* worker) {
  static unsigned (*real)(void*);
  if (!real) real = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  return real(worker);
}

unsigned ucp_worker_progress(void* worker) {
  static _Thread_local unsigned idle;
  open_worker = worker;
  unsigned done = progress(worker);
  if (done) {
    idle = 0;
  } else if (++idle > 4) {
    idle = 0;
    sched_yield();
  }
  return done;
}

void ucp_worker_destroy(void* worker) {
  open_worker = NULL;
  ((void (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_destroy"))(worker);
}

ssize_t read(int file, void* buffer, size_t size) {
  static ssize_t (*real)(int, void*, size_t);
  static int launcher = -1;
  if (!real) {
    const char* number = getenv("PMI_FD");
    if (number) launcher = atoi(number);
    real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  }
  if (launcher >= 0 && file == launcher) {
    struct pollfd answer = {file, POLLIN, 0};
    while (open_worker && poll(&answer, 1, 1) == 0) progress(open_worker);
  }
  return real(file, buffer, size);
}
