#!/bin/sh
# Nonblocking collectives: a request where they are posted, a completion with operation, root and sizes in
# whatever call completes them; MPI_Comm_idup likewise, with the communicator. 4 ranks, 10 integers (40
# bytes), sizes as in trace_collectives.sh.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <sys/mman.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int a[100] = {0}, b[17][100], rank, c[4] = {1, 2, 3, 4}, d[4] = {0, 1, 3, 6}, z[4] = {0, 4, 12, 24};
  int flag = 0, index, count, indices[4], x;
  MPI_Datatype t[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Comm copy, again;
  MPI_Request r[17];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  int same[4] = {rank + 1, rank + 1, rank + 1, rank + 1};
  MPI_Ibarrier(W, &r[0]);
  MPI_Ibcast(b[1], 10, MPI_INT, 1, W, &r[1]);
  MPI_Iscatter(a, 10, MPI_INT, b[2], 10, MPI_INT, 0, W, &r[2]);
  MPI_Igather(a, 10, MPI_INT, b[3], 10, MPI_INT, 0, W, &r[3]);
  MPI_Ireduce(a, b[4], 10, MPI_INT, MPI_SUM, 0, W, &r[4]);
  MPI_Iallreduce(a, b[5], 10, MPI_INT, MPI_SUM, W, &r[5]);
  MPI_Iallreduce(MPI_IN_PLACE, b[6], 10, MPI_INT, MPI_SUM, W, &r[6]);
  MPI_Iallgather(a, 10, MPI_INT, b[7], 10, MPI_INT, W, &r[7]);
  MPI_Ialltoall(a, 10, MPI_INT, b[8], 10, MPI_INT, W, &r[8]);
  MPI_Igatherv(a, c[rank], MPI_INT, b[9], c, d, MPI_INT, 0, W, &r[9]);
  MPI_Iscatterv(a, c, d, MPI_INT, b[10], c[rank], MPI_INT, 0, W, &r[10]);
  MPI_Iallgatherv(a, c[rank], MPI_INT, b[11], c, d, MPI_INT, W, &r[11]);
  MPI_Ireduce_scatter_block(a, b[12], 10, MPI_INT, MPI_SUM, W, &r[12]);
  MPI_Ireduce_scatter(a, b[13], c, MPI_INT, MPI_SUM, W, &r[13]);
  MPI_Iscan(a, b[14], 10, MPI_INT, MPI_SUM, W, &r[14]);
  MPI_Iexscan(a, b[15], 10, MPI_INT, MPI_SUM, W, &r[15]);
  /* rank sends 1, 2, 3, 4 integers, and gets rank + 1 from each */
  MPI_Ialltoallv(a, c, d, MPI_INT, b[16], same, d, MPI_INT, W, &r[16]);
  MPI_Waitall(17, r, MPI_STATUSES_IGNORE);
  MPI_Ialltoallw(a, c, z, t, b[0], same, z, t, W, &r[0]);
  while (!flag) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  /* mixed with messages, in every other form of completion */
  MPI_Irecv(&x, 1, MPI_INT, rank ^ 1, 5, W, &r[0]);
  MPI_Ibarrier(W, &r[1]);
  MPI_Isend(a, 1, MPI_INT, rank ^ 1, 5, W, &r[2]);
  for (int i = 0; i < 3; ++i) MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE);
  MPI_Ibarrier(W, &r[0]);
  MPI_Ibarrier(W, &r[1]);
  for (int done = 0; done < 2; done += count) MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
  MPI_Ibarrier(W, &r[0]);
  for (flag = 0; !flag;) MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE);
  MPI_Ibarrier(MPI_COMM_SELF, &r[0]);
  for (flag = 0; !flag;) MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE);
  /* two copies under way at once, completed in another order; both libraries tell the handle at once, so
     programs that move it get away with that */
  MPI_Comm* place = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_Comm_idup(W, place, &r[0]);
  copy = *place;
  munmap(place, 4096);
  MPI_Comm_idup(W, &again, &r[1]);
  MPI_Wait(&r[rank % 2], MPI_STATUS_IGNORE);
  MPI_Wait(&r[1 - rank % 2], MPI_STATUS_IGNORE);
  MPI_Comm_set_name(copy, "first");
  MPI_Comm_set_name(again, "second");
  MPI_Ibcast(&x, 1, MPI_INT, 2, again, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&again);
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app
check_archive
# size RANK SENT RECEIVED OPERATION OCCURRENCES
size() {
  found=$(grep "^NON_BLOCKING_COLLECTIVE_COMPLETE  *$1 " print.txt | grep "Operation: $4," |
          grep -c "Sent: $2, Received: $3," || true)
  [ "$found" = "${5:-1}" ] || fail "$4 on rank $1: $found records with $2 bytes sent, $3 received"
}
# per rank 17 + 1, 5 barriers, 2 copies, 1 broadcast
expect 104 '^NON_BLOCKING_COLLECTIVE_REQUEST'
expect 104 '^NON_BLOCKING_COLLECTIVE_COMPLETE'
expect 108 'RUBATO_POSTED_COMM'   # with a receive on each rank
expect 0 '^MPI_COLLECTIVE_END .*Operation: BARRIER'
size 0 0 0 BARRIER 6
size 1 160 40 BCAST
size 0 0 40 BCAST
size 0 160 40 SCATTER
size 2 0 40 SCATTER
size 0 40 160 GATHER
size 3 40 0 GATHER
size 0 40 160 REDUCE
size 1 40 0 REDUCE
size 2 160 160 ALLREDUCE
size 2 120 120 ALLREDUCE
size 1 160 160 ALLGATHER
size 1 160 160 ALLTOALL
size 0 4 40 GATHERV
size 2 12 0 GATHERV
size 0 40 4 SCATTERV
size 3 0 16 SCATTERV
size 1 32 40 ALLGATHERV
size 1 160 160 REDUCE_SCATTER_BLOCK
size 2 40 48 REDUCE_SCATTER
size 1 120 80 SCAN
size 1 80 40 EXSCAN
size 1 40 32 ALLTOALLV
size 3 40 64 ALLTOALLW
size 0 0 0 CREATE_HANDLE 2
size 2 16 4 BCAST
expect 4 'COMPLETE .*Operation: BCAST.*"second"'
expect 8 '^COMM_CREATE .*"first"\|^COMM_CREATE .*"second"'
expect 4 '^MPI_IRECV '
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
[ "$(grep -c '^COMM ' definitions.txt)" = 4 ] || fail "$(grep -c '^COMM ' definitions.txt) communicators, not 4"
grep -q '^COMM .*"second".*Parent: "MPI_COMM_WORLD"' definitions.txt || fail "the copy has no parent"
check_replayed 'MPI_Test.*'   # tests that found nothing
pass
