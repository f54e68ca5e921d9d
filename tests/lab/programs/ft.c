/* What FT of the NAS Parallel Benchmarks sends: parameters to all at first, then in each iteration a
   transpose of the whole array, and a checksum:   ft BYTES ITERATIONS MICROSECONDS   (BYTES that a
   rank has) */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size, parameters[8] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 1 << 20), iterations = number(argc, argv, 2, 6);
  const int computing = number(argc, argv, 3, 3000);
  MPI_Bcast(parameters, 8, MPI_INT, 0, MPI_COMM_WORLD);
  char* a = calloc(1, bytes);
  char* b = calloc(1, bytes);
  for (int i = 0; i < iterations; ++i) {
    work(computing * uneven(rank, 2 * i));
    MPI_Alltoall(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, MPI_COMM_WORLD);
    work(computing * uneven(rank, 2 * i + 1));
    double mine[2] = {rank, i}, sum[2];
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
