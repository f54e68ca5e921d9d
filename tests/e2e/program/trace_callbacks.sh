#!/bin/sh
# Calls from MPI callbacks (functions that copy and delete attributes) are not recorded. Communicators freed and
# requests completed there must still be forgotten, because their handles may be reused.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
static MPI_Comm inner, made[3];
static int rank, reused;
static int delete_inner(MPI_Comm comm, int key, void* value, void* extra) { return MPI_Comm_free(&inner); }
static int make_reverse(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  *flag = 0;
  for (int i = 0; i < 3; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made[i]); /* {2, 1, 0} */
  return MPI_SUCCESS;
}
int main(int argc, char** argv) {
  int frees, makes, x = 0;
  MPI_Comm outer, copy, old;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &frees, 0);
  MPI_Comm_create_keyval(make_reverse, MPI_COMM_NULL_DELETE_FN, &makes, 0);
  MPI_Comm_set_attr(MPI_COMM_WORLD, makes, 0);
  for (int i = 0; i < 10; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &inner); /* {0, 1} and {2} */
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &outer);
    MPI_Comm_set_attr(outer, frees, 0);
    old = inner;
    if (i % 2) MPI_Comm_free(&outer);
    else MPI_Comm_delete_attr(outer, frees); /* MPICH uses first what was freed last: the inner one's handle */
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int k = 0; k < 3; ++k) {
      reused += made[k] == old;
      if (rank == 2) MPI_Send(&x, 1, MPI_INT, 2, i, made[k]);
      if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 0, i, made[k], MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) printf("%d\n", reused);
  MPI_Finalize();
  return 0;
}
C
trace 3 ./app >out.txt || fail "exit code $?"
# If no handle came back, this would show nothing.
[ "$(cat out.txt)" -ge 1 ] || fail "handles used again: $(cat out.txt)"
check_archive
expect 30 '^MPI_SEND '
expect 30 '^MPI_RECV '
# In the order of the communicator made last, rank 2 is 0 and rank 0 is 2.
expect 30 '^MPI_SEND  *2 .*Receiver: 2 '
expect 30 '^MPI_RECV  *0 .*Sender: 0 '

build_program requests <<'C'
#include <mpi.h>
static MPI_Request posted;
static int x, waits_all;
static int complete(MPI_Comm comm, int key, void* value, void* extra) {
  return waits_all ? MPI_Waitall(1, &posted, MPI_STATUSES_IGNORE) : MPI_Wait(&posted, MPI_STATUS_IGNORE);
}
int main(int argc, char** argv) {
  int key, y, one = 1;
  MPI_Comm comm;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete, &key, 0);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  for (waits_all = 0; waits_all < 2; ++waits_all) {
    MPI_Comm_set_attr(comm, key, 0);
    MPI_Irecv(&x, 1, MPI_INT, 0, 10, comm, &posted);
    MPI_Send(&one, 1, MPI_INT, 0, 10, comm);
    MPI_Comm_delete_attr(comm, key);
    for (int i = 0; i < 4; ++i) { /* mostly the same handle again */
      MPI_Irecv(&y, 1, MPI_INT, 0, 20 + i, MPI_COMM_SELF, &r);
      MPI_Send(&one, 1, MPI_INT, 0, 20 + i, MPI_COMM_SELF);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
C
trace 1 ./requests || fail "exit code $?"
check_readable
# The receives have numbers 1 to 5 and 6 to 10; 1 and 6 complete in the callback.
expect 10 '^MPI_IRECV_REQUEST '
expect 8 '^MPI_IRECV '
for number in 2 3 4 5 7 8 9 10; do
  tag=$((number < 6 ? 18 + number : 13 + number))
  expect 1 "^MPI_IRECV .*Tag: ${tag}[^0-9].*Request: $number\$"
done

# More requests than a function keeps at hand: the callback completes receives 1 to 100 in one call, so the next 100
# receives are numbers 101 to 200, which are their tags, too.
build_program many <<'C'
#include <mpi.h>
enum { N = 100 };
static MPI_Request r[2][N];
static int x[2 * N];
static int complete(MPI_Comm comm, int key, void* value, void* extra) {
  return MPI_Waitall(N, r[0], MPI_STATUSES_IGNORE);
}
int main(int argc, char** argv) {
  int key, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete, &key, 0);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
  for (int i = 0; i < 2 * N; ++i) {
    if (i == N) MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Irecv(&x[i], 1, MPI_INT, 0, i + 1, MPI_COMM_SELF, &r[i / N][i % N]);
    MPI_Send(&one, 1, MPI_INT, 0, i + 1, MPI_COMM_SELF);
  }
  MPI_Waitall(N, r[1], MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
C
trace 1 ./many || fail "exit code $?"
check_readable
expect 100 '^MPI_IRECV '
sed -n 's/^MPI_IRECV .*Tag: \([0-9]*\).*Request: \([0-9]*\)$/\1 \2/p' print.txt >found.txt
seq 101 200 | sed 's/.*/& &/' | cmp - found.txt || fail "tags and requests: $(tr '\n' ',' <found.txt)"

# A send started and freed by the callback, which in both libraries has the handle of a send that completed at once,
# does not affect the program's own send with the same handle.
build_program frees <<'C'
#include <mpi.h>
#include <stdio.h>
static int x, same;
static MPI_Request outer;
static int send_and_free(MPI_Comm comm, int key, void* value, void* extra) {
  MPI_Request inner;
  MPI_Isend(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &inner);
  same += inner == outer;
  return MPI_Request_free(&inner);
}
int main(int argc, char** argv) {
  int key, rank, y;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_and_free, &key, 0);
  for (int i = 0; i < 10; ++i) {
    if (rank == 1) {
      MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
      MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &outer);
      MPI_Comm_delete_attr(MPI_COMM_SELF, key);
      MPI_Wait(&outer, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&y, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&y, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 1) printf("%d\n", same);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./frees >out.txt || fail "exit code $?"
[ "$(cat out.txt)" -ge 1 ] || fail "handles in use twice: $(cat out.txt)"
check_readable
expect 10 '^MPI_ISEND '
expect 10 '^MPI_ISEND_COMPLETE '

# Persistent requests that the callback frees and whose handles are reused: sends and requests of MPI_PROC_NULL (only
# MPICH reuses handles of those, and handles of any kind for receives).
build_program persistent <<'C'
#include <mpi.h>
#include <stdio.h>
static int x;
static MPI_Request made;
static int free_made(MPI_Comm comm, int key, void* value, void* extra) { return MPI_Request_free(&made); }
int main(int argc, char** argv) {
  int key, y, reused[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_made, &key, 0);
  for (int i = 0; i < 10; ++i) {
    for (int to_nobody = 0; to_nobody < 2; ++to_nobody) {
      for (int receives = 0; receives < 2; ++receives) {
        MPI_Request old, r;
        MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
        MPI_Send_init(&x, 1, MPI_INT, to_nobody ? MPI_PROC_NULL : 0, 5, MPI_COMM_SELF, &made);
        old = made;
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        if (receives) {
          MPI_Irecv(&y, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r);
          MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
        } else {
          MPI_Send_init(&x, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &r);
          MPI_Start(&r);
          MPI_Recv(&y, 1, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
        reused[receives] += r == old;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (!receives) MPI_Request_free(&r);
      }
    }
  }
  printf("%d %d\n", reused[0], reused[1]);
  MPI_Finalize();
  return 0;
}
C
trace 1 ./persistent >out.txt || fail "exit code $?"
read -r sends receives <out.txt
[ "$sends" -ge 1 ] || fail "handles used again: $sends and $receives"
check_archive
# Ten rounds of both kinds of first request, so 20 sends and 20 receives, each with the tag of its own.
expect 20 '^MPI_ISEND '
expect 20 '^MPI_ISEND .*Tag: 6,'
expect 20 '^MPI_ISEND_COMPLETE '
expect 20 '^MPI_IRECV .*Tag: 7,'

# The same from Fortran.
needs_fortran
cat >fcall.f90 <<'F'
module callbacks
  use mpi
  implicit none
  integer :: inner, posted, x
contains
  subroutine delete_inner(comm, key, value, extra, ierror)
    integer :: comm, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call MPI_Wait(posted, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_free(inner, ierror)
  end subroutine
end module
program app
  use callbacks
  implicit none
  integer :: ierror, rank, outer, key, made, i, r, y, one
  integer(kind=MPI_ADDRESS_KIND) :: nothing
  one = 1
  nothing = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, key, nothing, ierror)
  do i = 1, 10
    call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 2), 0, inner, ierror) ! {0, 1} and {2}
    call MPI_Comm_split(MPI_COMM_WORLD, 0, 0, outer, ierror)
    call MPI_Comm_set_attr(outer, key, nothing, ierror)
    call MPI_Irecv(x, 1, MPI_INTEGER, 0, 10, MPI_COMM_SELF, posted, ierror)
    call MPI_Send(one, 1, MPI_INTEGER, 0, 10, MPI_COMM_SELF, ierror)
    call MPI_Comm_free(outer, ierror)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, made, ierror) ! {2, 1, 0}
    call MPI_Irecv(y, 1, MPI_INTEGER, 0, 20, MPI_COMM_SELF, r, ierror)
    call MPI_Send(one, 1, MPI_INTEGER, 0, 20, MPI_COMM_SELF, ierror)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
    if (rank == 2) call MPI_Send(one, 1, MPI_INTEGER, 2, i - 1, made, ierror)
    if (rank == 0) call MPI_Recv(y, 1, MPI_INTEGER, 0, i - 1, made, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_free(made, ierror)
  end do
  call MPI_Finalize(ierror)
end program
F
build_fortran fcall
trace 3 ./fcall || fail "exit code $?"
check_readable
# On each rank one of two receives completes in the callback.
expect 30 '^MPI_IRECV  *[0-2] .*Tag: 20'
expect 0 '^MPI_IRECV  *[0-2] .*Tag: 10'
expect 10 '^MPI_SEND  *2 .*Receiver: 2 .*Tag: [0-9],'
expect 10 '^MPI_RECV  *0 .*Sender: 0 .*Tag: [0-9],'

# A persistent receive for which the callback waits: the program's own wait then completes nothing and has no message.
build_program waits_twice <<'C'
#include <mpi.h>
static MPI_Request receive;
static int wait_for_it(MPI_Comm comm, int key, void* value, void* extra) { return MPI_Wait(&receive, MPI_STATUS_IGNORE); }
int main(int argc, char** argv) {
  int key, x = 0, y;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_for_it, &key, 0);
  MPI_Recv_init(&y, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &receive);
  for (int i = 0; i < 5; ++i) {
    MPI_Start(&receive);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
    MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&receive);
  MPI_Finalize();
  return 0;
}
C
trace 1 ./waits_twice || fail "exit code $?"
check_readable
expect 5 '^MPI_SEND '
expect 0 '^MPI_IRECV '
pass
