/* Puts to the right and gets from the left, between fences:   one_sided BYTES STEPS MICROSECONDS */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 65536), steps = number(argc, argv, 2, 30);
  const int computing = number(argc, argv, 3, 1000);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  char* memory = calloc(3, bytes);
  char* mine = calloc(2, bytes);
  MPI_Win_create(memory, 3 * (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int step = 0; step < steps; ++step) {
    MPI_Put(mine, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, window);
    MPI_Get(mine + bytes, bytes, MPI_BYTE, left, bytes, bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    work(computing * uneven(rank, step));
  }
  MPI_Win_free(&window);
  return MPI_Finalize();
}
