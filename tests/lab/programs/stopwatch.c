/* Preloaded into a program that is not traced: how long it ran between MPI_Init and MPI_Finalize,
   as Rubato's elapsed time has it. Each rank writes two times of the machine's clock to the file
   $RUBATO_LAB_TIMES.RANK: when it left MPI_Init, and when it entered MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double began;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Libraries connect two ranks when they first talk, which takes milliseconds, and more where both
   begin at once. A tracer talks in MPI_Init, and models know nothing of it; so here one pair after
   the other does so before the time begins. */
static void connect_all(void) {
  int rank, size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int low = 0; low < size; ++low) {
    for (int high = low + 1; high < size; ++high) {
      if (rank == low) {
        PMPI_Send(NULL, 0, MPI_BYTE, high, 0, MPI_COMM_WORLD);
        PMPI_Recv(NULL, 0, MPI_BYTE, high, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == high) {
        PMPI_Recv(NULL, 0, MPI_BYTE, low, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        PMPI_Send(NULL, 0, MPI_BYTE, low, 0, MPI_COMM_WORLD);
      }
    }
  }
}

/* A traced run and a prediction begin at one moment on all ranks. Hosts of the laboratories share a
   clock. */
static void begin_together(void) {
  double last;
  connect_all();
  began = now();
  PMPI_Allreduce(&began, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double moment = last + 0.01;
  const struct timespec until = {(time_t)moment, (long)((moment - (time_t)moment) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) continue;
  began = now();
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  begin_together();
  return result;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  begin_together();
  return result;
}

int MPI_Finalize(void) {
  const double ended = now();
  const char* place = getenv("RUBATO_LAB_TIMES");
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (place) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", place, rank);
    FILE* file = fopen(name, "w");
    if (file) {
      fprintf(file, "%.9f %.9f\n", began, ended);
      fclose(file);
    }
  }
  return PMPI_Finalize();
}
