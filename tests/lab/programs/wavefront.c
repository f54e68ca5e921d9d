/* A sweep through a row of ranks and back: each takes a block from the one before, works on it and
   passes it on, block after block:   wavefront BYTES BLOCKS SWEEPS MICROSECONDS */
#include <mpi.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 4096), blocks = number(argc, argv, 2, 8);
  const int sweeps = number(argc, argv, 3, 20), computing = number(argc, argv, 4, 1000);
  char* data = calloc(1, bytes);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int forth = sweep % 2 == 0;
    const int before = forth ? rank - 1 : rank + 1, after = forth ? rank + 1 : rank - 1;
    for (int block = 0; block < blocks; ++block) {
      if (before >= 0 && before < size)
        MPI_Recv(data, bytes, MPI_BYTE, before, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      work(computing * uneven(rank, sweep * blocks + block));
      if (after >= 0 && after < size) MPI_Send(data, bytes, MPI_BYTE, after, block, MPI_COMM_WORLD);
    }
  }
  return MPI_Finalize();
}
