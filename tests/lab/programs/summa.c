/* A matrix product on a grid of ranks: in each step a block column goes along the rows, a block row
   along the columns (communicators of their own), and a norm over all ends it:
   summa BYTES MICROSECONDS */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size, extent[2] = {0, 0};
  MPI_Comm row, column;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 100000), computing = number(argc, argv, 2, 2000);
  MPI_Dims_create(size, 2, extent);
  MPI_Comm_split(MPI_COMM_WORLD, rank / extent[1], rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % extent[1], rank, &column);
  char* a = calloc(1, bytes);
  char* b = calloc(1, bytes);
  for (int round = 0; round < 4; ++round) {
    for (int step = 0; step < extent[1]; ++step) {
      MPI_Bcast(a, bytes, MPI_BYTE, step, row);
      MPI_Bcast(b, bytes, MPI_BYTE, step % extent[0], column);
      work(computing * uneven(rank, round * extent[1] + step));
    }
    double mine = rank, sum;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  return MPI_Finalize();
}
