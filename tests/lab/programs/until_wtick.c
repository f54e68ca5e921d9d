/* Preloaded into hpcc, traced or not: ends it where its test of latency and bandwidth begins (which asks for
   MPI_Wtick, on all ranks, as nothing before does). How often that one and HPL behind it repeat something depends on
   how long it took, so they are not the same program on another network. */
#include <mpi.h>
#include <stdlib.h>

double MPI_Wtick(void) {
  MPI_Finalize();
  exit(0);
}
