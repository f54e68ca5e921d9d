/* Two ranks of a few calls, for the timelines of figure 9: each computes, and waits for the other's message.
 *
 *   clocks WORK BYTES   WORK: millions of square roots in the longest stretch of compute */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double compute(double millions) {
  double sum = 0;
  for (long i = 1; i <= (long)(millions * 1e6); ++i) sum += sqrt((double)i);
  return sum;
}

int main(int argc, char **argv) {
  const double work = argc > 1 ? atof(argv[1]) : 2;
  const int bytes = argc > 2 ? atoi(argv[2]) : 4 << 20;
  char *message = malloc(bytes), *answer = malloc(bytes);
  /* Before anything is recorded: processors wake up, and memory is there. */
  double sum = compute(10 * work);
  memset(message, 1, bytes);
  memset(answer, 1, bytes);
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == 0) fprintf(stderr, "clocks: two ranks, please\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Pcontrol(0); /* nor is this: the memory of MPI is there */
  MPI_Sendrecv(message, bytes, MPI_BYTE, 1 - rank, 0, answer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1);
  if (rank == 0) {
    sum += compute(work);
    MPI_Send(message, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    sum += compute(work / 2);
    MPI_Recv(answer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += compute(work / 4);
  } else {
    sum += compute(work / 2);
    MPI_Recv(answer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += compute(work);
    MPI_Send(message, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    sum += compute(work / 4);
  }
  MPI_Finalize();
  return sum < 0;
}
