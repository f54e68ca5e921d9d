/* The run of figure 2, by its counts: rank 1 sends to rank 0 and rank 3 to rank 2, 1000 messages of 400 kB; rank 1
 * broadcasts 4 kB as often, and computes longer. Then the ranks behind the broadcast wait for rank 1.
 *
 *   pairs ROUNDS WORK   WORK: thousands of square roots of each rank and round; rank 1 does a quarter more */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(long thousands) {
  double sum = 0;
  for (long i = 1; i <= thousands * 1000; ++i) sum += sqrt((double)i);
  return sum;
}

int main(int argc, char **argv) {
  static char message[400000], shared[4000];
  MPI_Init(&argc, &argv);
  const long rounds = argc > 1 ? atol(argv[1]) : 1000, work = argc > 2 ? atol(argv[2]) : 1000;
  int rank, ranks;
  double sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 != 0) {
    if (rank == 0) fprintf(stderr, "pairs: an even number of ranks, please\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (long round = 0; round < rounds; ++round) {
    if (rank % 2 == 1) {
      sum += compute(rank == 1 ? work * 5 / 4 : work);
      MPI_Send(message, sizeof message, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD);
    } else {
      MPI_Request request;
      MPI_Irecv(message, sizeof message, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD, &request);
      sum += compute(work);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(shared, sizeof shared, MPI_BYTE, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum < 0;
}
