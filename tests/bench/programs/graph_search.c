/* Messages as Graph500's breadth-first search has them (its simple MPI reference code): every rank sends full buffers
   to unpredictable owners of vertices, tests its requests while it does so, and takes what comes with one
   receive from any source that is always pending. A level is over when each has got an empty message from each.

     graph_search LEVELS BUFFERS [pending]

   In a level each rank sends BUFFERS buffers, of 16 B to 4 KiB, in bursts. During a burst it does not look at its
   receive, so many messages come unexpected. Every second level uses a persistent receive. With `pending` each rank
   has a second receive open from the first level to the last, for a control message. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 4096, kSlots = 16, kBurst = 8, kData = 1, kControl = 2 };

static int rank, size, ended;
static char incoming[kBytes], outgoing[kSlots][kBytes];
static MPI_Request receive, sends[kSlots];
static int persistent;

/* The same numbers in every run. */
static unsigned random_number(void) {
  static unsigned state;
  if (!state) state = 2654435761u * (unsigned)(rank + 1);
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static void post(void) {
  if (persistent)
    MPI_Start(&receive);
  else
    MPI_Irecv(incoming, kBytes, MPI_BYTE, MPI_ANY_SOURCE, kData, MPI_COMM_WORLD, &receive);
}

/* Looks once whether something came; an empty message ends its sender's level. */
static void look(void) {
  int flag, bytes;
  MPI_Status status;
  if (ended == size - 1) return;
  MPI_Test(&receive, &flag, &status);
  if (!flag) return;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == 0) ++ended;
  if (ended < size - 1) post();
}

/* A buffer that is not under way. A rank without one looks for messages, or all could wait for each other. */
static int free_slot(void) {
  for (int slot = 0;; slot = (slot + 1) % kSlots) {
    int flag = 1;
    if (sends[slot] != MPI_REQUEST_NULL) MPI_Test(&sends[slot], &flag, MPI_STATUS_IGNORE);
    if (flag) return slot;
    look();
  }
}

static void send(int to, int bytes) {
  const int slot = free_slot();
  MPI_Isend(outgoing[slot], bytes, MPI_BYTE, to, kData, MPI_COMM_WORLD, &sends[slot]);
}

static void level(int buffers) {
  ended = 0;
  if (persistent) MPI_Recv_init(incoming, kBytes, MPI_BYTE, MPI_ANY_SOURCE, kData, MPI_COMM_WORLD, &receive);
  post();
  for (int i = 0; i < buffers; ++i) {
    const int to = (rank + 1 + (int)(random_number() % (unsigned)(size - 1))) % size;
    send(to, 16 << (random_number() % 9));
    if (i % kBurst == kBurst - 1) {
      for (int k = 0; k < kBurst; ++k) look();
    }
  }
  for (int other = 1; other < size; ++other) send((rank + other) % size, 0);
  while (ended < size - 1) look();
  MPI_Waitall(kSlots, sends, MPI_STATUSES_IGNORE);
  if (persistent) MPI_Request_free(&receive);
  int sum, mine = buffers;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int levels = argc > 1 ? atoi(argv[1]) : 10, buffers = argc > 2 ? atoi(argv[2]) : 1000;
  const int pending = argc > 3 && strcmp(argv[3], "pending") == 0;
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int slot = 0; slot < kSlots; ++slot) sends[slot] = MPI_REQUEST_NULL;
  MPI_Request control;
  int word = 0;
  if (pending) MPI_Irecv(&word, 1, MPI_INT, (rank + 1) % size, kControl, MPI_COMM_WORLD, &control);
  for (int i = 0; i < levels; ++i) {
    persistent = i % 2;
    level(buffers);
  }
  if (pending) {
    MPI_Send(&size, 1, MPI_INT, (rank + size - 1) % size, kControl, MPI_COMM_WORLD);
    MPI_Wait(&control, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
