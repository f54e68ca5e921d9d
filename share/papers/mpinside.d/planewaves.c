/* Messages as in a plane-wave code (Paratec's place, figures 8 and 10): bands of an N x N x N grid go through
 * three-dimensional Fourier transforms. A rank has N / P planes; the transposition between the second and the third
 * dimension goes by MPI_Isend, MPI_Irecv and an MPI_Wait for each; overlaps of the bands are then summed up over all
 * ranks (MPI_Allreduce). Every rank has the same to compute.
 *
 *   planewaves N BANDS ROUNDS   N: a power of two, and a multiple of the ranks */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex Complex;
static int ranks, rank, n;

/* In place, radix 2, over n elements that lie `stride` apart. */
static void transform(Complex *line, long stride) {
  static const double kTau = 6.283185307179586;
  for (int i = 1, j = 0; i < n; ++i) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const Complex other = line[i * stride];
      line[i * stride] = line[j * stride];
      line[j * stride] = other;
    }
  }
  for (int length = 2; length <= n; length <<= 1) {
    const Complex root = cexp(-kTau * I / length);
    for (int begin = 0; begin < n; begin += length) {
      Complex factor = 1;
      for (int k = begin; k < begin + length / 2; ++k) {
        Complex *low = line + k * stride, *high = low + length / 2 * stride;
        const Complex part = *high * factor;
        *high = *low - part;
        *low += part;
        factor *= root;
      }
    }
  }
}

/* Planes z of all x, y become planes y of all x, z: blocks of n * (n / P)^2 to each other rank. */
static void transpose(const Complex *from, Complex *to, Complex *out, Complex *in, MPI_Request *requests) {
  const long planes = n / ranks, block = planes * planes * n;
  for (int peer = 0; peer < ranks; ++peer)
    for (long z = 0; z < planes; ++z)
      for (long y = 0; y < planes; ++y)
        memcpy(out + peer * block + (y * planes + z) * n, from + (z * n + peer * planes + y) * n, n * sizeof(Complex));
  for (int step = 1; step < ranks; ++step) {
    const int source = (rank + ranks - step) % ranks;
    MPI_Irecv(in + source * block, 2 * block, MPI_DOUBLE, source, 3, MPI_COMM_WORLD, &requests[step - 1]);
  }
  for (int step = 1; step < ranks; ++step) {
    const int target = (rank + step) % ranks;
    MPI_Isend(out + target * block, 2 * block, MPI_DOUBLE, target, 3, MPI_COMM_WORLD, &requests[ranks - 2 + step]);
  }
  memcpy(in + rank * block, out + rank * block, block * sizeof(Complex));
  for (int i = 0; i < 2 * (ranks - 1); ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int peer = 0; peer < ranks; ++peer)
    for (long y = 0; y < planes; ++y)
      for (long z = 0; z < planes; ++z)
        memcpy(to + (y * n + peer * planes + z) * n, in + peer * block + (y * planes + z) * n, n * sizeof(Complex));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  n = argc > 1 ? atoi(argv[1]) : 32;
  const int bands = argc > 2 ? atoi(argv[2]) : 8, rounds = argc > 3 ? atoi(argv[3]) : 10;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (n < 2 || (n & (n - 1)) != 0 || n % ranks != 0) {
    if (rank == 0) fprintf(stderr, "planewaves: N is a power of two and a multiple of the ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const long planes = n / ranks, local = planes * n * n;
  const int overlaps = 1024 * bands; /* a strip of the matrix of overlaps */
  Complex *grid = malloc(local * sizeof(Complex)), *turned = malloc(local * sizeof(Complex));
  Complex *out = malloc(local * sizeof(Complex)), *in = malloc(local * sizeof(Complex));
  double *own = calloc(overlaps * bands, sizeof(double)), *all = malloc(overlaps * bands * sizeof(double));
  MPI_Request *requests = malloc(2 * ranks * sizeof(MPI_Request));
  for (int round = 0; round < rounds; ++round) {
    for (int band = 0; band < bands; ++band) {
      for (long i = 0; i < local; ++i) grid[i] = sin(1e-3 * i + band + rank);
      for (long z = 0; z < planes; ++z) {
        for (int y = 0; y < n; ++y) transform(grid + (z * n + y) * n, 1);
        for (int x = 0; x < n; ++x) transform(grid + z * n * n + x, n);
      }
      transpose(grid, turned, out, in, requests);
      for (long y = 0; y < planes; ++y)
        for (int x = 0; x < n; ++x) transform(turned + y * n * n + x, n);
      for (int i = 0; i < overlaps; ++i) own[band * overlaps + i] = creal(turned[i % local] * conj(grid[i % local]));
    }
    MPI_Allreduce(own, all, overlaps * bands, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("checksum %g\n", all[1]);
  MPI_Finalize();
  return 0;
}
