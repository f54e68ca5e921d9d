#!/bin/sh
# The forms for large counts of MPI 4 (MPI_Send_c and its like), of all calls that move data: a program is
# compiled once with counts of type int and once with these forms, and both archives must hold the same records.
# What the records of the int forms must be, other tests work out by hand.
. "$(dirname "$0")/../lib.sh"
cat >large.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if MPI_VERSION < 4
#error
#endif
#ifdef LARGE
#define F(name) MPI_##name##_c
typedef MPI_Count count;
typedef MPI_Count displ;   /* of datatypes */
typedef MPI_Aint offset;   /* of buffers */
#else
#define F(name) MPI_##name
typedef int count;
typedef MPI_Aint displ;
typedef int offset;
#endif
#define INT MPI_INT
static MPI_Request r;
static void wait_for(void) { MPI_Wait(&r, MPI_STATUS_IGNORE); }
static void start(void) {
  MPI_Start(&r);
  wait_for();
  MPI_Request_free(&r);
}
int main(int argc, char** argv) {
  int rank, a[64] = {0}, b[64], ring = 3, periodic = 1;
  MPI_Comm world, line;
  MPI_Message message;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  const int to = (rank + 1) % 3, from = (rank + 2) % 3;

  char* space = malloc(4096);
  F(Buffer_attach)(space, 4096);
  F(Irecv)(b, 9, INT, from, 1, world, &r);
  F(Send)(a, 1, INT, to, 1, world), wait_for();
  F(Irecv)(b, 9, INT, from, 2, world, &r);
  F(Bsend)(a, 2, INT, to, 2, world), wait_for();
  F(Irecv)(b, 9, INT, from, 3, world, &r);
  F(Ssend)(a, 3, INT, to, 3, world), wait_for();
  F(Irecv)(b, 9, INT, from, 4, world, &r);
  MPI_Barrier(world);
  F(Rsend)(a, 4, INT, to, 4, world), wait_for();
  F(Isend)(a, 5, INT, to, 5, world, &r);
  F(Recv)(b, 9, INT, from, 5, world, &status), wait_for();
  count found;
  F(Get_count)(&status, INT, &found);
  if (found != 5) return 1;
  F(Ibsend)(a, 6, INT, to, 6, world, &r);
  F(Recv)(b, 6, INT, MPI_ANY_SOURCE, 6, world, MPI_STATUS_IGNORE), wait_for();
  F(Issend)(a, 7, INT, to, 7, world, &r);
  MPI_Mprobe(from, 7, world, &message, MPI_STATUS_IGNORE);
  F(Mrecv)(b, 7, INT, &message, MPI_STATUS_IGNORE), wait_for();
  MPI_Request late;
  F(Irecv)(b, 9, INT, from, 8, world, &late);
  MPI_Barrier(world);
  F(Irsend)(a, 8, INT, to, 8, world, &r), wait_for();
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  F(Isend)(a, 9, INT, to, 9, world, &late);
  MPI_Mprobe(from, 9, world, &message, MPI_STATUS_IGNORE);
  F(Imrecv)(b, 9, INT, &message, &r), wait_for();
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  F(Sendrecv)(a, 10, INT, to, 10, b, 12, INT, from, 10, world, MPI_STATUS_IGNORE);
  F(Sendrecv_replace)(a, 11, INT, to, 11, from, 11, world, MPI_STATUS_IGNORE);
  F(Isendrecv)(a, 12, INT, to, 12, b, 12, INT, from, 12, world, &r), wait_for();
  F(Isendrecv_replace)(a, 13, INT, to, 13, from, 13, world, &r), wait_for();
  F(Recv_init)(b, 14, INT, from, 14, world, &late);
  MPI_Start(&late);
  MPI_Barrier(world);
  F(Send_init)(a, 1, INT, to, 14, world, &r), start();
  MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_Start(&late), MPI_Barrier(world);
  F(Bsend_init)(a, 2, INT, to, 14, world, &r), start();
  MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_Start(&late), MPI_Barrier(world);
  F(Ssend_init)(a, 3, INT, to, 14, world, &r), start();
  MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_Start(&late), MPI_Barrier(world);
  F(Rsend_init)(a, 4, INT, to, 14, world, &r), start();
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  MPI_Request_free(&late);
  F(Buffer_detach)(&space, &(count){0});

  /* To rank i go i + 1 elements. */
  const count n[3] = {1, 2, 3}, mine[3] = {rank + 1, rank + 1, rank + 1};
  const offset at[3] = {0, 1, 3}, each[3] = {0, 4, 8};
  const displ byte_at[3] = {0, 16, 32};
#ifdef LARGE
  const MPI_Aint w_at[3] = {0, 16, 32};
#else
  const int w_at[3] = {0, 16, 32};
#endif
  const MPI_Datatype types[3] = {INT, INT, INT};
#define ALL(START, IN, END) \
  START(Bcast, bcast)(a, 1, INT, 1, world IN), END; \
  START(Gather, gather)(a, 2, INT, b, 2, INT, 1, world IN), END; \
  START(Gatherv, gatherv)(a, rank + 1, INT, b, n, at, INT, 1, world IN), END; \
  START(Scatter, scatter)(a, 3, INT, b, 3, INT, 1, world IN), END; \
  START(Scatterv, scatterv)(a, n, at, INT, b, rank + 1, INT, 1, world IN), END; \
  START(Allgather, allgather)(a, 4, INT, b, 4, INT, world IN), END; \
  START(Allgatherv, allgatherv)(a, rank + 1, INT, b, n, at, INT, world IN), END; \
  START(Alltoall, alltoall)(a, 5, INT, b, 5, INT, world IN), END; \
  START(Alltoallv, alltoallv)(a, n, at, INT, b, mine, each, INT, world IN), END; \
  START(Alltoallw, alltoallw)(a, n, w_at, types, b, mine, w_at, types, world IN), END; \
  START(Reduce, reduce)(a, b, 6, INT, MPI_SUM, 1, world IN), END; \
  START(Allreduce, allreduce)(a, b, 7, INT, MPI_SUM, world IN), END; \
  START(Reduce_scatter, reduce_scatter)(a, b, n, INT, MPI_SUM, world IN), END; \
  START(Reduce_scatter_block, reduce_scatter_block)(a, b, 8, INT, MPI_SUM, world IN), END; \
  START(Scan, scan)(a, b, 9, INT, MPI_SUM, world IN), END; \
  START(Exscan, exscan)(a, b, 10, INT, MPI_SUM, world IN), END
#define NEIGHBOURS(START, IN, END) \
  START(Neighbor_allgather, neighbor_allgather)(a, 1, INT, b, 1, INT, line IN), END; \
  START(Neighbor_allgatherv, neighbor_allgatherv)(a, 2, INT, b, two, near, INT, line IN), END; \
  START(Neighbor_alltoall, neighbor_alltoall)(a, 3, INT, b, 3, INT, line IN), END; \
  START(Neighbor_alltoallv, neighbor_alltoallv)(a, two, near, INT, b, two, near, INT, line IN), END; \
  START(Neighbor_alltoallw, neighbor_alltoallw)(a, two, byte_near, types, b, two, byte_near, types, line IN), END
#define BLOCKING(name, lower) F(name)
#define STARTED(name, lower) F(I##lower)
#define PERSISTENT(name, lower) F(name##_init)
#define NONE
#define REQUEST , &r
#define INFO_REQUEST , MPI_INFO_NULL, &r
  ALL(BLOCKING, NONE, (void)0);
  ALL(STARTED, REQUEST, wait_for());
  ALL(PERSISTENT, INFO_REQUEST, start());
  MPI_Cart_create(world, 1, &ring, &periodic, 0, &line);
  const count two[2] = {2, 2};
  const offset near[2] = {0, 4};
  const MPI_Aint byte_near[2] = {0, 16};
  NEIGHBOURS(BLOCKING, NONE, (void)0);
  NEIGHBOURS(STARTED, REQUEST, wait_for());
  NEIGHBOURS(PERSISTENT, INFO_REQUEST, start());

  /* One-sided. */
  MPI_Win win, given, shared;
  void* base;
  F(Win_create)(b, sizeof b, 4, MPI_INFO_NULL, world, &win);
  F(Win_allocate)(256, 4, MPI_INFO_NULL, world, &base, &given);
  F(Win_allocate_shared)(256, 4, MPI_INFO_NULL, world, &base, &shared);
  MPI_Aint size;
#ifdef LARGE
  MPI_Aint unit;
#else
  int unit;
#endif
  F(Win_shared_query)(shared, 0, &size, &unit, &base);
  MPI_Win_lock_all(0, win);
  F(Put)(a, 1, INT, to, 0, 1, INT, win);
  F(Get)(a + 8, 2, INT, to, 8, 2, INT, win);
  F(Accumulate)(a, 3, INT, to, 16, 3, INT, MPI_SUM, win);
  F(Get_accumulate)(a, 4, INT, a + 16, 4, INT, to, 24, 4, INT, MPI_SUM, win);
  F(Rput)(a, 5, INT, to, 32, 5, INT, win, &r), wait_for();
  F(Rget)(a + 32, 6, INT, to, 40, 6, INT, win, &r), wait_for();
  F(Raccumulate)(a, 7, INT, to, 48, 7, INT, MPI_SUM, win, &r), wait_for();
  F(Rget_accumulate)(a, 8, INT, a + 40, 8, INT, to, 56, 8, INT, MPI_SUM, win, &r), wait_for();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&shared), MPI_Win_free(&given), MPI_Win_free(&win);

  /* Datatypes made by these forms, and sent. */
  MPI_Datatype vector, indexed, pairs;
  count lengths[2] = {1, 2};
  displ places[2] = {0, 16};
  const offset index[2] = {0, 3};
  F(Type_vector)(2, 1, 2, INT, &vector);
  F(Type_create_struct)(2, lengths, places, types, &pairs);
#ifdef LARGE
  const MPI_Count slots[2] = {0, 3};
  F(Type_indexed)(2, lengths, slots, INT, &indexed);
#else
  F(Type_indexed)(2, lengths, index, INT, &indexed);
#endif
  (void)index;
  MPI_Type_commit(&vector), MPI_Type_commit(&indexed), MPI_Type_commit(&pairs);
  F(Sendrecv)(a, 1, vector, to, 20, b, 1, vector, from, 20, world, MPI_STATUS_IGNORE);
  F(Sendrecv)(a, 1, indexed, to, 21, b, 1, indexed, from, 21, world, MPI_STATUS_IGNORE);
  F(Sendrecv)(a, 1, pairs, to, 22, b, 1, pairs, from, 22, world, MPI_STATUS_IGNORE);
  count packed = 0;
#ifdef LARGE
  MPI_Count bytes = 0;
#else
  int bytes = 0;
#endif
  F(Pack_size)(3, INT, world, &bytes);
  F(Pack)(a, 3, INT, b, sizeof b, &packed, world);
  packed = 0;
  F(Unpack)(b, sizeof b, &packed, a, 3, INT, world);
  F(Reduce_local)(a, b, 2, INT, MPI_SUM);
  MPI_Type_free(&vector), MPI_Type_free(&indexed), MPI_Type_free(&pairs);
  MPI_Comm_free(&line), MPI_Comm_free(&world);
  MPI_Finalize();
  return 0;
}
C


build_program large -o small 2>build.txt || skip "this MPI has no forms for large counts"
build_program large -DLARGE

# The records of each rank in order, without their times (nor what the scheduler took) and without the names of
# calls.
records() {
  otf2-print run.otf2dir/traces.otf2 |
    sed -E 's/"(MPIX?_[A-Za-z_]*)_c"/"\1"/; s/\("RUBATO_STOLEN"[^)]*\)(, )?//; s/, $//' | awk '
    /^[A-Z]/ { location = $2; $3 = "" }
    location != "" && location ~ /^[0-9]+$/ && !/BUFFER_FLUSH|PROGRAM_BEGIN|ATTRIBUTES: *$/ { print location, $0 }' |
    sort -s -n -k1,1 | sed -E 's/Region: "([^"]*)" <[0-9]+>/\1/' >"$1"
}
for form in small large; do
  trace 3 ./$form
  check_archive
  check_replayed "MPI_Mprobe"
  records $form.txt
done
diff small.txt large.txt >difference.txt || fail "records differ: $(head -5 difference.txt)"
# The archive of these forms, which is the last, has them all: 8 sends, 4 receives, 4 of both, 5 persistent,
# 3 * (16 + 5) collectives, 8 one-sided operations, 4 of windows, 3 datatypes, and MPI_Buffer_attach, Buffer_detach,
# Get_count, Pack, Pack_size, Unpack and Reduce_local: 106.
otf2-print run.otf2dir/traces.otf2 | grep -o '^ENTER .*"MPI_[A-Za-z_]*_c"' | grep -o '"MPI_.*' | sort -u >names.txt
[ "$(grep -c . names.txt)" -eq 106 ] || fail "only these forms are in the archive: $(cat names.txt)"
pass
