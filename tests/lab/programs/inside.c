/* What happens inside of calls:   inside KIND BYTES STEPS MICROSECONDS [FASTER]   KIND: late, a
   consumer that computes before it receives what is there; probes, receivers that probe and receive
   with other messages in between; empty, allgatherv, gatherv and scatterv of parts most of which are
   empty; operation, a reduction whose operation computes; strided, a halo one side of which is a
   column of a matrix. Rank 1 computes FASTER times as fast. */
#include <mpi.h>
#include <string.h>

#include "work.h"

static int rank, size, computing, faster;

static void compute(double part, int step) {
  work(part * computing * uneven(rank, step) / (rank == 1 ? faster : 1));
}

static void slow_sum(void* in, void* out, int* n, MPI_Datatype* type) {
  for (int i = 0; i < *n; ++i) ((double*)out)[i] += ((double*)in)[i];
  compute(0.1, *n);
}

static void late(char* buffer, int bytes, int step) {
  if (rank % 2 == 0 && rank + 1 < size) {
    compute(0.3, step);
    MPI_Send(buffer, bytes, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
  } else if (rank % 2 == 1) {
    compute(1, step);
    MPI_Recv(buffer, bytes, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void probes(char* buffer, int bytes, int step) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Request sent[2], received;
  MPI_Message message;
  MPI_Status found;
  int flag = 0;
  compute(1, step);
  MPI_Isend(buffer, 8, MPI_BYTE, next, 1, MPI_COMM_WORLD, &sent[0]);
  compute(0.5, step + 1);
  MPI_Isend(buffer, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &sent[1]);
  if (step % 3 == 0) {
    MPI_Probe(before, 2, MPI_COMM_WORLD, &found);
    MPI_Recv(buffer, 8, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(buffer, bytes, MPI_BYTE, before, 2, MPI_COMM_WORLD, &received);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
  } else if (step % 3 == 1) {
    MPI_Recv(buffer, 8, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!flag) MPI_Iprobe(before, 2, MPI_COMM_WORLD, &flag, &found);
    MPI_Recv(buffer, bytes, MPI_BYTE, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Probe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &found);
    MPI_Recv(buffer, 8, MPI_BYTE, before, found.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, bytes, MPI_BYTE, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
}

static void empty(char* out, char* in, int bytes, int step) {
  int counts[size], places[size];
  for (int i = 0; i < size; ++i) {
    counts[i] = i == step % size ? bytes : i == (step + 1) % size ? bytes / 8 : 0;
    places[i] = i * bytes;
  }
  compute(1, step);
  MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
  compute(0.5, step + 1);
  MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Scatterv(in, counts, places, MPI_BYTE, out, counts[rank], MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void strided(char* buffer, int bytes, int step) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Datatype column;
  MPI_Type_vector(bytes / 8, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  compute(1, step);
  MPI_Sendrecv(buffer, bytes, MPI_BYTE, next, 1, buffer + 8 * bytes, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  compute(1, step + 1);
  MPI_Sendrecv(buffer, 1, column, next, 1, buffer + 8 * bytes, 1, column, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* kind = argc > 1 ? argv[1] : "late";
  const int bytes = number(argc, argv, 2, 8192), steps = number(argc, argv, 3, 20);
  computing = number(argc, argv, 4, 1000);
  faster = number(argc, argv, 5, 1);
  char *out = calloc(size + 16, bytes), *in = calloc(size + 16, bytes);
  MPI_Op operation;
  MPI_Op_create(slow_sum, 1, &operation);
  for (int step = 0; step < steps; ++step) {
    if (strcmp(kind, "probes") == 0) {
      probes(out, bytes, step);
    } else if (strcmp(kind, "empty") == 0) {
      empty(out, in, bytes, step);
    } else if (strcmp(kind, "strided") == 0) {
      strided(out, bytes, step);
    } else if (strcmp(kind, "operation") == 0) {
      compute(1, step);
      MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    } else {
      late(out, bytes, step);
    }
  }
  MPI_Op_free(&operation);
  return MPI_Finalize();
}
