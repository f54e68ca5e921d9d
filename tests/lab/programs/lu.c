/* What LU of the NAS Parallel Benchmarks sends: planes of a cube, one after the other, as small
   messages from north and west to south and east, and back; then faces with all neighbours, and a
   norm:   lu BYTES PLANES ITERATIONS MICROSECONDS   (BYTES of an edge of a plane; a face has PLANES
   of them) */
#include <mpi.h>

#include "work.h"

enum { kSweep = 1, kFace = 2 };

int main(int argc, char** argv) {
  int rank, size, extent[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = number(argc, argv, 1, 1024), planes = number(argc, argv, 2, 16);
  const int iterations = number(argc, argv, 3, 5), computing = number(argc, argv, 4, 100);
  MPI_Dims_create(size, 2, extent);
  const int row = rank / extent[1], column = rank % extent[1];
  const int near[4] = {row > 0 ? rank - extent[1] : MPI_PROC_NULL,
                       column > 0 ? rank - 1 : MPI_PROC_NULL,
                       row + 1 < extent[0] ? rank + extent[1] : MPI_PROC_NULL,
                       column + 1 < extent[1] ? rank + 1 : MPI_PROC_NULL};
  char* out = calloc(planes, bytes);
  char* in = calloc(planes, bytes);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int back = 0; back < 2; ++back) {
      for (int plane = 0; plane < planes; ++plane) {
        for (int i = 0; i < 2; ++i)
          MPI_Recv(in, bytes, MPI_BYTE, near[2 * back + i], kSweep, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(computing * uneven(rank, plane + 2 * iteration + back));
        for (int i = 0; i < 2; ++i)
          MPI_Send(out, bytes, MPI_BYTE, near[2 - 2 * back + i], kSweep, MPI_COMM_WORLD);
      }
    }
    for (int i = 0; i < 4; ++i) {
      MPI_Request request;
      MPI_Irecv(in, bytes * planes, MPI_BYTE, near[i], kFace, MPI_COMM_WORLD, &request);
      MPI_Send(out, bytes * planes, MPI_BYTE, near[(i + 2) % 4], kFace, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    double mine[5] = {rank}, sum[5];
    MPI_Allreduce(mine, sum, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
