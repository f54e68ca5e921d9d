/* Neighbours on a ring start long messages, compute, and wait for them:   overlap BYTES STEPS
 * MICROSECONDS */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 100000), steps = number(argc, argv, 2, 100);
  const int computing = number(argc, argv, 3, 4000);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  char* out = calloc(1, bytes);
  char* in = calloc(1, bytes);
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[2];
    MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[1]);
    work(computing * uneven(rank, step));
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    work(computing / 4);
  }
  return MPI_Finalize();
}
