/* A ring of ranks: each exchanges messages with both neighbours, computes, and now and
   then takes part in an allreduce:   halo BYTES MESSAGES STEPS MICROSECONDS   (MESSAGES to each
   neighbour in each step) */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 1024), messages = number(argc, argv, 2, 4);
  const int steps = number(argc, argv, 3, 200), computing = number(argc, argv, 4, 1000);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  char* out = calloc(2 * messages, bytes);
  char* in = calloc(2 * messages, bytes);
  MPI_Request* requests = malloc(4 * messages * sizeof *requests);
  for (int step = 0; step < steps; ++step) {
    int count = 0;
    for (int i = 0; i < messages; ++i) {
      MPI_Irecv(in + (size_t)bytes * 2 * i, bytes, MPI_BYTE, left, 2 * i, MPI_COMM_WORLD,
                &requests[count++]);
      MPI_Irecv(in + (size_t)bytes * (2 * i + 1), bytes, MPI_BYTE, right, 2 * i + 1, MPI_COMM_WORLD,
                &requests[count++]);
    }
    for (int i = 0; i < messages; ++i) {
      MPI_Isend(out + (size_t)bytes * 2 * i, bytes, MPI_BYTE, right, 2 * i, MPI_COMM_WORLD,
                &requests[count++]);
      MPI_Isend(out + (size_t)bytes * (2 * i + 1), bytes, MPI_BYTE, left, 2 * i + 1, MPI_COMM_WORLD,
                &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    work(computing * uneven(rank, step));
    if (step % 10 == 9) {
      double mine = step, sum;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  return MPI_Finalize();
}
