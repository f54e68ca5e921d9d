/* Preloaded by mpich_suite_mpiexec.sh: MPICH waits for messages without ever giving up its core. With
   more processes than cores most of the time is then spent waiting for those that do not run. Here
   they yield when UCX, below MPICH, has found nothing to do a few times. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  static _Thread_local unsigned idle;
  if (!real) real = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned done = real(worker);
  if (done) {
    idle = 0;
  } else if (++idle > 4) {
    idle = 0;
    sched_yield();
  }
  return done;
}
