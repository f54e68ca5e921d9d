/* Howell's shared-memory microbenchmarks, and operations whose order of magnitude his table gives,
   for threads on cores of their own, as far as there are some.

     memory CACHE_BYTES [LINE_BYTES [THREADS]]

   CACHE_BYTES: more than the largest cache holds, in each buffer; of each line of LINE_BYTES (64) a
   word is read or written; 2 to 64 THREADS (2). Prints "shared NAME average
   maximum" (seconds over repetitions) and "order NAME seconds". */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  kMostThreads = 64,
  kRepetitions = 10,
  kWords = 4096,
  kHandOvers = 100,
  kLocks = 1000000
};

static int threads = 2;
static size_t line = 64, bytes;
static char* buffer[kMostThreads];     /* each larger than all caches */
static char small[kMostThreads][4096]; /* in cache */
static pthread_barrier_t everybody;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;                   /* of a thread, under the mutex */
static sem_t private_semaphore;    /* of thread 0 */
static sem_t semaphores[kMostThreads]; /* that the other thread posts */
static volatile long sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A word of each cache line, in steps that no prefetcher foresees: seconds a word. */
static double read_words(const char* from, size_t size, size_t* at) {
  const size_t lines = size / line;
  unsigned long sum = 0;
  const double begin = now();
  for (int i = 0; i < kWords; ++i) {
    *at = (*at * 1103515245 + 12345 + (size_t)(sum & 1)) & (lines - 1);
    sum += *(const volatile unsigned long*)(from + *at * line);
  }
  const double seconds = (now() - begin) / kWords;
  sink = (long)sum;
  return seconds;
}
static double write_words(char* to, size_t size, size_t* at) {
  const size_t lines = size / line;
  const double begin = now();
  for (int i = 0; i < kWords; ++i) {
    *at = (*at * 1103515245 + 12345) & (lines - 1);
    *(volatile long*)(to + *at * line) = i;
  }
  return (now() - begin) / kWords;
}

enum {
  kEmpty,
  kTimer,
  kBarrier,
  kLock,
  kSemaphore,
  kSemaphoreTurns,
  kConditionTurns,
  kRead,
  kWrite
};
struct Measurement {
  const char* name;
  int what;
  int all;       /* both threads at a time */
  int neighbour; /* of the other thread */
  int cached;
};
static const struct Measurement kMeasurements[] = {
    {"empty loop", kEmpty, 0, 0, 0},         {"timer()", kTimer, 0, 0, 0},
    {"barrier", kBarrier, 1, 0, 0},          {"lock+unlock", kLock, 0, 0, 0},
    {"all lock+unlock", kLock, 1, 0, 0},     {"sem_post+sem_wait", kSemaphore, 0, 0, 0},
    {"sem_turns", kSemaphoreTurns, 1, 0, 0}, {"cond_turns", kConditionTurns, 1, 0, 0},
    {"read_localcache", kRead, 0, 0, 1},     {"allread_localcache", kRead, 1, 0, 1},
    {"read_local", kRead, 0, 0, 0},          {"allread_local", kRead, 1, 0, 0},
    {"read_neighbour", kRead, 0, 1, 0},      {"allread_neighbour", kRead, 1, 1, 0},
    {"write_localcache", kWrite, 0, 0, 1},   {"allwrite_localcache", kWrite, 1, 0, 1},
    {"write_local", kWrite, 0, 0, 0},        {"allwrite_local", kWrite, 1, 0, 0},
    {"write_neighbour", kWrite, 0, 1, 0},    {"allwrite_neighbour", kWrite, 1, 1, 0},
};
enum { kCount = sizeof kMeasurements / sizeof kMeasurements[0] };
static double results[kCount][kMostThreads][kRepetitions];

/* Threads wait for each other in turn: seconds from one to the next. */
static double semaphore_turns(int thread) {
  const double begin = now();
  for (int i = 0; i < kHandOvers; ++i) {
    if (thread == 0) sem_post(&semaphores[1]);
    sem_wait(&semaphores[thread]);
    if (thread > 0) sem_post(&semaphores[(thread + 1) % threads]);
  }
  return (now() - begin) / kHandOvers / threads;
}
static double condition_turns(int thread) {
  const double begin = now();
  for (int i = 0; i < kHandOvers; ++i) {
    pthread_mutex_lock(&mutex);
    while (turn != thread) pthread_cond_wait(&condition, &mutex);
    turn = (thread + 1) % threads;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
  return (now() - begin) / kHandOvers / threads;
}

static double measure(const struct Measurement* m, int thread, size_t* at) {
  const int whose = m->neighbour ? (thread + 1) % threads : thread;
  char* const place = m->cached ? small[whose] : buffer[whose];
  const size_t size = m->cached ? sizeof small[0] : bytes;
  switch (m->what) {
    case kEmpty: {
      const double begin = now();
      for (volatile int i = 0; i < kWords; ++i) continue;
      return (now() - begin) / kWords;
    }
    case kTimer: {
      const double begin = now();
      for (int i = 0; i < kWords; ++i) sink += (long)now();
      return (now() - begin) / kWords;
    }
    case kBarrier: {
      const double begin = now();
      for (int i = 0; i < 100; ++i) pthread_barrier_wait(&everybody);
      return (now() - begin) / 100;
    }
    case kLock: {
      /* Much longer than one thread starts before the other. */
      const double begin = now();
      for (int i = 0; i < kLocks; ++i) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      }
      return (now() - begin) / kLocks;
    }
    case kSemaphore: {
      const double begin = now();
      for (int i = 0; i < kWords; ++i) {
        sem_post(&private_semaphore);
        sem_wait(&private_semaphore);
      }
      return (now() - begin) / kWords;
    }
    case kSemaphoreTurns:
      return semaphore_turns(thread);
    case kConditionTurns:
      return condition_turns(thread);
    case kRead:
      if (m->cached) read_words(place, size, at);
      return read_words(place, size, at);
    default:
      if (m->cached) write_words(place, size, at);
      return write_words(place, size, at);
  }
}

static void* run(void* argument) {
  const int thread = (int)(long)argument;
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(thread % (int)sysconf(_SC_NPROCESSORS_ONLN), &core);
  pthread_setaffinity_np(pthread_self(), sizeof core, &core);
  buffer[thread] = malloc(bytes);
  memset(buffer[thread], thread, bytes);
  size_t at = (size_t)thread;
  // First reads are slow, up to 8 us a word; this does not suffice for all of them.
  for (int i = 0; i < kRepetitions; ++i) read_words(buffer[thread], bytes, &at);
  for (int i = 0; i < kCount; ++i) {
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      pthread_barrier_wait(&everybody);
      if (kMeasurements[i].all || thread == 0)
        results[i][thread][repetition] = measure(&kMeasurements[i], thread, &at);
    }
  }
  pthread_barrier_wait(&everybody);
  return NULL;
}

static void* nothing(void* argument) {
  return argument;
}

static void order(const char* name, double seconds) {
  printf("order %s\t%.9g\n", name, seconds);
}

/* Called while the process is small: fork copies its page tables. Least of some repetitions. */
static void creations(void) {
  enum { kThread, kJoin, kProcess, kWait, kSteps };
  double least[kSteps] = {1, 1, 1, 1};
  for (int repetition = 0; repetition < 10 * kRepetitions; ++repetition) {
    double times[kSteps + 1];
    pthread_t thread;
    times[kThread] = now();
    if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
      perror("pthread_create");
      exit(1);
    }
    times[kJoin] = now();
    pthread_join(thread, NULL);
    times[kProcess] = now();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    times[kWait] = now();
    if (child < 0) {
      perror("fork");
      exit(1);
    }
    waitpid(child, NULL, 0);
    times[kSteps] = now();
    for (int step = 0; step < kSteps; ++step) {
      const double seconds = times[step + 1] - times[step];
      if (seconds < least[step]) least[step] = seconds;
    }
  }
  order("thr_create", least[kThread]);
  order("thr_join", least[kJoin]);
  order("fork", least[kProcess]);
  order("waitpid", least[kWait]);
}

static double daxpy(int n) {
  double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y), least = 1e9;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const double begin = now();
    for (int i = 0; i < n; ++i) y[i] += 2.5 * x[i];
    const double seconds = now() - begin;
    if (seconds < least) least = seconds;
    sink += (long)y[n / 2];
  }
  free(x), free(y);
  return least;
}

static void orders(void) {
  const char* const name = "howell-memory.tmp";
  double begin = now();
  FILE* file = fopen(name, "w");
  order("fopen", now() - begin);
  begin = now();
  fprintf(file, "x");
  order("fprintf (1 char)", now() - begin);
  begin = now();
  fprintf(file, "a string of some length\n");
  order("fprintf (string)", now() - begin);
  begin = now();
  fclose(file);
  order("fclose", now() - begin);
  remove(name);
  size_t at = 1;
  order("rd main mem", read_words(buffer[0], bytes, &at));
  read_words(small[0], sizeof small[0], &at);
  order("rd cache mem", read_words(small[0], sizeof small[0], &at));
  order("wr main mem", write_words(buffer[0], bytes, &at));
  order("wr cache mem", write_words(small[0], sizeof small[0], &at));
  order("daxpy100", daxpy(100));
  order("daxpy1000", daxpy(1000));
  order("daxpy10000", daxpy(10000));
}

int main(int argc, char** argv) {
  const size_t wanted = argc > 1 ? (size_t)atoll(argv[1]) : (size_t)64 << 20;
  if (argc > 2) line = (size_t)atoll(argv[2]);
  if (argc > 3) threads = atoi(argv[3]);
  if (threads < 2 || threads > kMostThreads || line < sizeof(long) || line > sizeof small[0] ||
      (line & (line - 1)) != 0) {
    fprintf(stderr, "memory: 2 to %d threads; a line of a power of two from %zu to %zu bytes\n",
            kMostThreads, sizeof(long), sizeof small[0]);
    return 1;
  }
  printf("threads %d\n", threads);
  for (bytes = line; 2 * bytes <= wanted;) bytes *= 2; /* lines are counted by a mask */
  creations();
  pthread_barrier_init(&everybody, NULL, (unsigned)threads);
  sem_init(&private_semaphore, 0, 0);
  for (int i = 0; i < threads; ++i) sem_init(&semaphores[i], 0, 0);
  pthread_t ids[kMostThreads];
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, run, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < kCount; ++i) {
    double sum = 0, most = 0;
    int count = 0;
    for (int thread = 0; thread < (kMeasurements[i].all ? threads : 1); ++thread) {
      for (int repetition = 0; repetition < kRepetitions; ++repetition, ++count) {
        const double seconds = results[i][thread][repetition];
        sum += seconds;
        if (seconds > most) most = seconds;
      }
    }
    printf("shared %s\t%.9g %.9g\n", kMeasurements[i].name, sum / count, most);
  }
  orders();
  return 0;
}
