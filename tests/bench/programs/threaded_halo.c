/* Two threads of each rank exchange halos with the same thread of both neighbours in a ring, each on a communicator of
   its own, as hybrid codes with MPI_THREAD_MULTIPLE do:

     threaded_halo TURNS [BYTES] */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { kThreads = 2 };
static int rank, size, turns, bytes;
static MPI_Comm comms[kThreads];

static void* exchange(void* comm_of_thread) {
  const MPI_Comm comm = *(MPI_Comm*)comm_of_thread;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  char* data = calloc(4, bytes);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request requests[4];
    MPI_Irecv(data, bytes, MPI_BYTE, left, 0, comm, &requests[0]);
    MPI_Irecv(data + bytes, bytes, MPI_BYTE, right, 1, comm, &requests[1]);
    MPI_Isend(data + 2 * bytes, bytes, MPI_BYTE, right, 0, comm, &requests[2]);
    MPI_Isend(data + 3 * bytes, bytes, MPI_BYTE, left, 1, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  free(data);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  turns = argc > 1 ? atoi(argv[1]) : 1000;
  bytes = argc > 2 ? atoi(argv[2]) : 1024;
  pthread_t threads[kThreads - 1];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 1; i < kThreads; ++i) pthread_create(&threads[i - 1], NULL, exchange, &comms[i]);
  exchange(&comms[0]);
  for (int i = 1; i < kThreads; ++i) pthread_join(threads[i - 1], NULL);
  return MPI_Finalize();
}
