// Between its MPI calls each rank touches new pages, computes and sleeps, and prints what getrusage() and
// CLOCK_THREAD_CPUTIME_ID counted there: "judge RANK faults switches nanoseconds". Inside one call it receives into
// new pages. Arguments: "thread": a second thread does the work; "die": killed before MPI_Finalize.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 20, kPage = 4096, kReceived = 256 };
static int rank;

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
static double faults(void) {
  struct rusage now;
  getrusage(RUSAGE_THREAD, &now);
  return now.ru_minflt + now.ru_majflt;
}
static double switches(void) {
  struct rusage now;
  getrusage(RUSAGE_THREAD, &now);
  return now.ru_nvcsw + now.ru_nivcsw;
}
static char* new_pages(int pages) {
  char* at = mmap(NULL, (size_t)pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(at, (size_t)pages * kPage, MADV_NOHUGEPAGE);
  return at;
}
__attribute__((noinline)) static void touch(int pages) {
  volatile char* at = new_pages(pages);
  for (int i = 0; i < pages; ++i) at[(size_t)i * kPage] = 1;
}
__attribute__((noinline)) static void burn(double nanoseconds) {
  for (double end = cpu() + nanoseconds; cpu() < end;) continue;
}

__attribute__((noinline)) static void* work(void* unused) {
  double sums[3] = {0, 0, 0}, received;
  char* from = new_pages(kReceived);
  MPI_Barrier(MPI_COMM_SELF);  // a thread counts from its first call on
  received = faults();
  memset(from, 1, kReceived * kPage);
  sums[0] += faults() - received;
  for (int i = 0; i < kRounds; ++i) {
    const double nanoseconds = cpu(), before_switches = switches(), before = faults();
    touch(10 * (rank + 1));
    burn(1e6);
    usleep(1000);
    sums[0] += faults() - before;
    sums[1] += switches() - before_switches;
    sums[2] += cpu() - nanoseconds;
    MPI_Barrier(MPI_COMM_SELF);
  }
  // A first call of the same length: it loads the pages of MPI's and the tracer's code, outside of the counted call.
  for (int i = 0; i < 2; ++i) {
    char* to = new_pages(kReceived);
    received = faults();
    MPI_Sendrecv(from, kReceived * kPage, MPI_CHAR, 0, 1, to, kReceived * kPage, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    received = faults() - received;
  }
  fprintf(stderr, "judge %d %.0f %.0f %.0f received %.0f\n", rank, sums[0], sums[1], sums[2], received);
  MPI_Barrier(MPI_COMM_SELF);
  return unused;
}

__attribute__((noinline)) static void again(void) {
  touch(1);
  MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && strcmp(argv[1], "thread") == 0;
  int provided;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (threads) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    pthread_join(other, NULL);
  } else {
    work(NULL);
    again();  // from two lines: one place
    again();
  }
  if (rank == 0) system("ls -l /proc/self/fd | grep -c perf_event >files.txt");
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "die") == 0) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}
