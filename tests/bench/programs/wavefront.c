/* What NPB LU does in its sweeps (SSOR, a pipeline over the planes of a cube that is cut in two directions), without
   the arithmetic: on a grid of ranks each takes two strips of a plane from north and west, and passes two on to south
   and east, plane after plane; then the same backwards. After both sweeps neighbours exchange two faces, and every
   tenth time all of them a norm.

     wavefront ITERATIONS [PLANES [STRIP_BYTES [FACE_BYTES]]]

   Calls of one iteration by a rank in the middle of the grid: 8 PLANES + 12. */
#include <mpi.h>
#include <stdlib.h>

static int number(int argc, char** argv, int place, int otherwise) {
  return argc > place ? atoi(argv[place]) : otherwise;
}

enum { kNorth, kSouth, kWest, kEast };
static int neighbours[4];
static MPI_Comm grid;

/* One plane after the other, from two sides to the two others. */
static void sweep(const int* from, const int* to, int tag, int planes, char* strip, int bytes) {
  for (int plane = 0; plane < planes; ++plane) {
    for (int i = 0; i < 2; ++i) {
      if (from[i] != MPI_PROC_NULL) MPI_Recv(strip, bytes, MPI_BYTE, from[i], tag, grid, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
      if (to[i] != MPI_PROC_NULL) MPI_Send(strip, bytes, MPI_BYTE, to[i], tag, grid);
    }
  }
}

/* One face to each side and one from there, as LU's exchange_3 has it. */
static void exchange(char* face, int bytes) {
  for (int side = 0; side < 4; ++side) {
    const int from = neighbours[side], to = neighbours[side ^ 1];
    MPI_Request request;
    if (from != MPI_PROC_NULL) MPI_Irecv(face, bytes, MPI_BYTE, from, 2 + side, grid, &request);
    if (to != MPI_PROC_NULL) MPI_Send(face + bytes, bytes, MPI_BYTE, to, 2 + side, grid);
    if (from != MPI_PROC_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int iterations = number(argc, argv, 1, 10), planes = number(argc, argv, 2, 31);
  const int strip_bytes = number(argc, argv, 3, 5 * 8 * 9), face_bytes = number(argc, argv, 4, 2 * 5 * 8 * 33);
  int size, sides[2] = {0, 0}, periodic[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periodic, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbours[kNorth], &neighbours[kSouth]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[kWest], &neighbours[kEast]);
  const int first[2] = {neighbours[kNorth], neighbours[kWest]}, last[2] = {neighbours[kSouth], neighbours[kEast]};
  char* strip = calloc(1, strip_bytes);
  char* faces = calloc(2, face_bytes);
  double norms[5] = {0}, sums[5];
  for (int i = 0; i < iterations; ++i) {
    sweep(first, last, 0, planes, strip, strip_bytes);
    sweep(last, first, 1, planes, strip, strip_bytes);
    exchange(faces, face_bytes);
    if (i % 10 == 0) MPI_Allreduce(norms, sums, 5, MPI_DOUBLE, MPI_SUM, grid);
  }
  MPI_Finalize();
  free(faces);
  free(strip);
  return 0;
}
