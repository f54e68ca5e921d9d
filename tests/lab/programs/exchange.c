/* Collectives that move much:   exchange KIND BYTES STEPS MICROSECONDS   KIND: alltoall; alltoallv,
   to each rank another length, to some nothing; vectors, allgatherv, gatherv and scatterv of
   lengths that differ by rank; in-place, allreduce, allgather and alltoall with MPI_IN_PLACE. BYTES
   are those for a rank. */
#include <mpi.h>
#include <string.h>

#include "work.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* kind = argc > 1 ? argv[1] : "alltoall";
  const int bytes = number(argc, argv, 2, 8192), steps = number(argc, argv, 3, 20);
  const int computing = number(argc, argv, 4, 1000);
  char* out = calloc(2 * size, bytes);
  char* in = calloc(2 * size, bytes);
  int* counts = calloc(size, sizeof *counts);
  int* from = calloc(size, sizeof *from);
  int* there = calloc(size, sizeof *there);
  int* places = calloc(size, sizeof *places);
  for (int step = 0; step < steps; ++step) {
    work(computing * uneven(rank, step));
    if (strcmp(kind, "alltoallv") == 0) {
      for (int i = 0; i < size; ++i) {
        const int to = (rank + 3 * i + step) % 4, of = (i + 3 * rank + step) % 4;
        counts[i] = bytes / 2 * to;
        from[i] = bytes / 2 * of;
        places[i] = there[i] = 2 * bytes * i;
      }
      MPI_Alltoallv(out, counts, places, MPI_BYTE, in, from, there, MPI_BYTE, MPI_COMM_WORLD);
    } else if (strcmp(kind, "vectors") == 0) {
      const int root = step % size;
      for (int i = 0; i < size; ++i) {
        counts[i] = bytes / 4 * (1 + i % 4);
        places[i] = bytes * i;
      }
      MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
      work(computing / 2);
      MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, root, MPI_COMM_WORLD);
      work(computing / 2);
      MPI_Scatterv(in, counts, places, MPI_BYTE, out, counts[rank], MPI_BYTE, root, MPI_COMM_WORLD);
    } else if (strcmp(kind, "in-place") == 0) {
      MPI_Allreduce(MPI_IN_PLACE, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      work(computing / 2);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
      work(computing / 2);
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    } else {
      MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
  }
  return MPI_Finalize();
}
