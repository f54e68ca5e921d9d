#!/bin/sh
# Messages of types with holes: the archive has the mean length of their blocks, by hand in each line; for data in one
# block it has none. An int has 4 bytes.
. "$(dirname "$0")/../lib.sh"
build_program types <<'C'
#include <mpi.h>
#include <stddef.h>
#define SELF MPI_COMM_SELF
#define DONE MPI_STATUS_IGNORE
static char from[1 << 16], to[1 << 16];
/* A message of `count` elements with this tag, to a buffer in one block. */
static void send(int tag, int count, MPI_Datatype type, int mine) {
  if (mine) MPI_Type_commit(&type);
  MPI_Sendrecv(from + 4096, count, type, 0, tag, to, sizeof to, MPI_BYTE, 0, tag, SELF, DONE);
  if (mine) MPI_Type_free(&type);
}
int main(int argc, char** argv) {
  MPI_Datatype t, u, holes;
  MPI_Init(&argc, &argv);
  MPI_Type_vector(8, 1, 4, MPI_INT, &holes), MPI_Type_commit(&holes);
  send(1, 1, holes, 0);                                       /* 8 blocks of 4 */
  send(2, 2, holes, 0);                                       /* the 8th touches the 9th: 64 B / 15 */
  MPI_Type_vector(8, 4, 4, MPI_INT, &t), send(3, 5, t, 1);    /* one block */
  MPI_Type_vector(8, 3, 4, MPI_INT, &t), send(4, 1, t, 1);    /* 8 of 12 */
  int length[] = {1, 2, 3}, place[] = {0, 1, 10};
  MPI_Type_indexed(3, length, place, MPI_INT, &t), send(5, 1, t, 1);           /* 1 + 2 touch: 2 of 12 */
  MPI_Aint at[] = {0, 8, 40};
  MPI_Type_create_hindexed(3, length, at, MPI_INT, &t), send(6, 1, t, 1);      /* 4 + 8 + 12: 24 B / 3 */
  MPI_Type_create_indexed_block(3, 2, (int[]){0, 2, 8}, MPI_INT, &t), send(7, 1, t, 1);   /* 16 and 8 */
  MPI_Type_create_hindexed_block(2, 2, at, MPI_INT, &t), send(8, 1, t, 1);     /* one block */
  MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &t), send(9, 1, t, 1);   /* 12 B / 2 */
  MPI_Type_create_resized(MPI_INT, 0, 8, &u), MPI_Type_contiguous(5, u, &t), MPI_Type_free(&u), send(10, 3, t, 1);   /* 15 of 4 */
  MPI_Type_create_resized(MPI_INT, 0, 8, &t), send(11, 1, t, 1);               /* one block */
  int size[] = {4, 6};
  MPI_Type_create_subarray(2, size, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT, &t), send(12, 1, t, 1);   /* 2 rows of 3 */
  MPI_Type_create_subarray(2, size, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_FORTRAN, MPI_INT, &t), send(13, 1, t, 1);   /* 3 columns of 2 */
  MPI_Type_create_subarray(2, size, (int[]){2, 6}, (int[]){1, 0}, MPI_ORDER_C, MPI_INT, &t), send(14, 1, t, 1);   /* one block */
  MPI_Type_create_hvector(3, 1, 400, holes, &t), send(15, 1, t, 1);            /* 24 of 4 */
  MPI_Type_dup(holes, &t), send(16, 1, t, 0), MPI_Type_free(&t);
  send(19, 1, MPI_SHORT_INT, 0);                                               /* 2 and 4 */
  send(20, 7, MPI_DOUBLE, 0);
  /* Types of the same size get the same handles. */
  for (int i = 0; i < 100; i++) {
    MPI_Type_vector(i % 2 ? 8 : 4, i % 2 ? 1 : 2, 4, MPI_INT, &t), send(21 + i % 2, 1, t, 1);   /* of 8, of 4 */
  }
  /* All ways to receive and to send: */
  MPI_Request r[2];
  MPI_Message m;
  MPI_Irecv(to, 1, holes, 0, 30, SELF, r), MPI_Isend(from, 1, holes, 0, 30, SELF, r + 1), MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Recv_init(to, 1, holes, 0, 31, SELF, r), MPI_Send_init(from, 1, holes, 0, 31, SELF, r + 1);
  for (int i = 0; i < 2; i++) MPI_Startall(2, r), MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Request_free(r), MPI_Request_free(r + 1);
  MPI_Isend(from, 1, holes, 0, 32, SELF, r), MPI_Recv(to, 1, holes, MPI_ANY_SOURCE, 32, SELF, DONE), MPI_Wait(r, DONE);
  MPI_Isend(from, 1, holes, 0, 33, SELF, r), MPI_Mprobe(0, 33, SELF, &m, DONE), MPI_Mrecv(to, 1, holes, &m, DONE), MPI_Wait(r, DONE);
  MPI_Isend(from, 1, holes, 0, 34, SELF, r), MPI_Mprobe(0, 34, SELF, &m, DONE), MPI_Imrecv(to, 1, holes, &m, r + 1);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Type_free(&holes);
  MPI_Finalize();
  return 0;
}
C

# blocks: for each send the tag and the length of the blocks, and how many messages are like that. A record's
# attributes are in the line behind it.
blocks() {
  otf2-print run.otf2dir/traces.otf2 | awk '
    function done() { if (tag != "") { print tag, block; tag = "" } }
    /^[A-Z]/ { done() }
    /^MPI_I?SEND / { match($0, /Tag: [0-9]+/); tag = substr($0, RSTART + 5, RLENGTH - 5); block = "-" }
    match($0, /"RUBATO_BLOCK_BYTES" <[0-9]+>; UINT64; [0-9]+/) { n = split(substr($0, RSTART, RLENGTH), w, " "); block = w[n] }
    END { done() }' | sort -n | uniq -c | sed 's/^ *//'
}
trace 1 ./types
check_archive
blocks >blocks.txt
cat >right.txt <<'R'
1 1 4
1 2 4
1 3 -
1 4 12
1 5 12
1 6 8
1 7 12
1 8 -
1 9 6
1 10 4
1 11 -
1 12 12
1 13 8
1 14 -
1 15 4
1 16 4
1 19 3
1 20 -
50 21 8
50 22 4
1 30 4
2 31 4
1 32 4
1 33 4
1 34 4
R
diff blocks.txt right.txt || fail "other blocks than those on the right"
# With the sends of these types: MPI_Irecv, two starts, MPI_Recv, MPI_Mrecv, MPI_Imrecv.
received=$(otf2-print run.otf2dir/traces.otf2 | awk '/^[A-Z]/ { receives = /^MPI_(RECV|IRECV_REQUEST) / }
  receives && /"RUBATO_BLOCK_BYTES" <[0-9]+>; UINT64; 4/ { n++ } END { print n }')
[ "$received" = 6 ] || fail "$received receives have blocks"

needs_fortran
for interface in "use mpi" "use mpi_f08"; do
  cat >fortran.f90 <<F
program fortran
  $interface
  integer :: error, data(1000) = 0, got(8)
  $([ "$interface" = "use mpi" ] && echo integer || echo "type(MPI_Datatype)") :: column
  call MPI_Init(error)
  call MPI_Type_vector(8, 1, 4, MPI_INTEGER, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Sendrecv(data, 1, column, 0, 1, got, 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, error)
  call MPI_Type_free(column, error)
  call MPI_Sendrecv(data, 8, MPI_INTEGER, 0, 2, got, 8, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
end program
F
  build_fortran fortran
  trace 1 ./fortran
  [ "$(blocks | tr '\n' ,)" = "1 1 4,1 2 -," ] || fail "Fortran, $interface: $(blocks)"
done
pass
