/* The halo exchange of halo.c with requests that are made once, and neighbours in two dimensions:
   halo_persistent BYTES STEPS MICROSECONDS REVERSED   (REVERSED: receives are posted and started
   the other way round than messages come) */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size, extent[2] = {0, 0}, neighbour[4];
  const int periodic[2] = {1, 1};
  MPI_Comm grid;
  MPI_Request requests[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 8192), steps = number(argc, argv, 2, 50);
  const int computing = number(argc, argv, 3, 500), reversed = number(argc, argv, 4, 0);
  MPI_Dims_create(size, 2, extent);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);
  char* out = calloc(4, bytes);
  char* in = calloc(4, bytes);
  for (int i = 0; i < 4; ++i) {
    const int from = reversed ? 3 - i : i;
    /* What a neighbour sends to the other side comes from this side. */
    MPI_Recv_init(in + (size_t)bytes * from, bytes, MPI_BYTE, neighbour[from], from ^ 1, grid, &requests[i]);
    MPI_Send_init(out + (size_t)bytes * i, bytes, MPI_BYTE, neighbour[i], i, grid, &requests[4 + i]);
  }
  for (int step = 0; step < steps; ++step) {
    MPI_Startall(8, requests);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    work(computing * uneven(rank, step));
  }
  for (int i = 0; i < 8; ++i) MPI_Request_free(&requests[i]);
  MPI_Comm_free(&grid);
  return MPI_Finalize();
}
