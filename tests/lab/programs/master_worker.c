/* Rank 0 gives out tasks and takes results from any source; the others work:   master_worker TASKS
   MICROSECONDS BYTES Which worker gets which task depends on who is first. A task takes its worker
   as long as that worker's tasks do, so that another order is not another amount of work. */
#include <mpi.h>

#include "work.h"

enum { kTask = 1, kResult = 2, kEnd = 3 };

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int tasks = number(argc, argv, 1, 300), computing = number(argc, argv, 2, 3000);
  const int bytes = number(argc, argv, 3, 16384);
  char* data = calloc(1, bytes);
  MPI_Status status;
  if (rank == 0) {
    int given = 0, open = 0;
    for (int worker = 1; worker < size; ++worker, ++given, ++open)
      MPI_Send(data, bytes, MPI_BYTE, worker, kTask, MPI_COMM_WORLD);
    while (open > 0) {
      MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, &status);
      --open;
      work(50);
      if (given < tasks) {
        MPI_Send(data, bytes, MPI_BYTE, status.MPI_SOURCE, kTask, MPI_COMM_WORLD);
        ++given;
        ++open;
      } else {
        MPI_Send(data, 0, MPI_BYTE, status.MPI_SOURCE, kEnd, MPI_COMM_WORLD);
      }
    }
  } else {
    for (int task = 0;; ++task) {
      MPI_Recv(data, bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == kEnd) break;
      work(computing * uneven(rank, task));
      MPI_Send(data, bytes / 4, MPI_BYTE, 0, kResult, MPI_COMM_WORLD);
    }
  }
  return MPI_Finalize();
}
