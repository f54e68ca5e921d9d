/* What conjugate gradients do: a matrix product with a small halo, two scalar products, and little
   work between: solver BYTES ITERATIONS MICROSECONDS */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 8192), iterations = number(argc, argv, 2, 200);
  const int computing = number(argc, argv, 3, 1000);
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  char* out = calloc(1, bytes);
  char* in = calloc(1, bytes);
  double mine[2] = {rank + 1.0, 1.0}, sum[2];
  for (int i = 0; i < iterations; ++i) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, bytes, MPI_BYTE, left, 1, in, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    work(computing * uneven(rank, i));
    MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(computing / 4);
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
