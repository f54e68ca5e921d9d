#!/bin/sh
# Recording only a part of a run: by MPI_Pcontrol, seconds, barriers. Calls that are not recorded are still tracked:
# requests and communicators that reach into the recorded part are identified.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, x = 0, y = 0, pcontrol = atoi(argv[1]), pause_us = atoi(argv[2]);
  MPI_Request r[3];
  MPI_Comm copies[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  for (int part = 0; part < 3; ++part) { /* only part 1 is recorded */
    if (pcontrol) MPI_Pcontrol(part == 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[part]);
    MPI_Irecv(&y, 1, MPI_INT, peer, part, copies[part], &r[part]);
    if (part > 0) { /* completes what was posted in the part before */
      MPI_Send(&x, 1, MPI_INT, peer, part - 1, copies[part - 1]);
      MPI_Wait(&r[part - 1], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i <= part; ++i) MPI_Sendrecv_replace(&x, 1, MPI_INT, peer, 9, peer, 9, copies[0], MPI_STATUS_IGNORE);
    if (pause_us) usleep(pause_us);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Cancel(&r[2]);
  MPI_Wait(&r[2], MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
C
# what WHICH: part 1 and nothing of the others is there.
what() {
  check_readable "$1"
  expect 4 '^MPI_RECV '            # two rounds of Sendrecv_replace on two ranks
  expect 6 '^MPI_SEND '            # and the Send
  expect 2 '^MPI_IRECV_REQUEST '   # posted in part 1
  expect 0 '^MPI_IRECV '           # posted in part 0, completed in 1: no number to complete
  expect 2 '^ENTER .*"MPI_Barrier"'
  expect 2 '^ENTER .*"MPI_Comm_dup"'
  expect 2 '^MEASUREMENT_ON_OFF .*ON'
  "$rubato" replay run.otf2dir --on measured --verify >out.txt 2>&1 || fail "$1: $(cat out.txt)"
  "$rubato" replay run.otf2dir --on perfect >out.txt 2>&1 || fail "$1: $(cat out.txt)"
  rm -rf run.otf2dir print.txt
}
trace 2 ./app 1 0
expect 4 '^ENTER .*"MPI_Pcontrol"'  # part 0's own call, and the one that ends part 1
expect 4 '^MEASUREMENT_ON_OFF .*OFF'
sed -i '/"MPI_Pcontrol"/d' print.txt
what Pcontrol

run 2 "$rubato" trace --window barrier:1:2 -o run.otf2dir ./app 0 0
what barriers

# Seconds: each part takes 2 s, so the window lies well inside part 1 and holds its Barrier alone.
run 2 "$rubato" trace --window 3:5 -o run.otf2dir ./app 0 2000000
check_readable seconds
[ "$(count '^MEASUREMENT_ON_OFF .*ON')" -ge 1 ] || fail "never switched on"
[ "$(count '^ENTER .*"MPI_Barrier"')" -lt 6 ] || fail "the window was not kept"
"$rubato" replay run.otf2dir --on measured --verify >out.txt 2>&1 || fail "seconds: $(cat out.txt)"

# Operations begun while recording was off have no recorded end: of two MPI_Put and an MPI_Rput on each rank, only the
# second MPI_Put is recorded.
build_program late <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, dims[1] = {2}, periods[1] = {1}, x = 0, y[2];
  double* memory;
  MPI_Comm ring;
  MPI_Win win;
  MPI_Request r[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  MPI_Pcontrol(0);
  MPI_Rput(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win, &r[0]);
  MPI_Put(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
  MPI_Ineighbor_allgather(&x, 1, MPI_INT, y, 1, MPI_INT, ring, &r[1]);
  MPI_Pcontrol(1);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Put(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./late
expect 2 '^RMA_PUT '
expect 2 '^RMA_OP_COMPLETE_NON_BLOCKING '
expect 2 '^RMA_OP_COMPLETE_REMOTE '
expect 0 '^PARAMETER_UNSIGNED_INT '

# Completions of requests while recording is off leave no records: the 16 completions of the MPI_Waitall are not read as
# calls after MPI_Finalize. MPI_Pcontrol does not nest: the second MPI_Pcontrol(0) changes nothing, and one
# MPI_Pcontrol(1) switches on.
build_program muted <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x[8], y[8];
  MPI_Request r[16], again[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send_init(x, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &again[0]);
  MPI_Recv_init(y, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &again[1]);
  for (int i = 0; i < 8; ++i) {
    MPI_Irecv(&y[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[i]);
    MPI_Isend(&x[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[8 + i]);
  }
  MPI_Pcontrol(0);
  MPI_Waitall(16, r, MPI_STATUSES_IGNORE);
  MPI_Pcontrol(0);
  MPI_Startall(2, again);
  MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
  MPI_Pcontrol(1);
  if (argc > 1) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Request_free(&again[0]);
  MPI_Request_free(&again[1]);
  MPI_Finalize();
  return 0;
}
C
for arguments in "" abort; do
  trace 2 ./muted $arguments >out.txt 2>&1 || [ -n "$arguments" ] || fail "muted: $(cat out.txt)"
  if [ -n "$arguments" ]; then
    tries=0  # ranks may outlive the launcher for a moment
    until "$rubato" recover run.otf2dir >out.txt 2>&1; do
      tries=$((tries + 1))
      [ $tries -lt 50 ] || fail "recover: $(cat out.txt)"
      sleep 0.2
    done
  else
    expect 2 '^LEAVE .*"MPI_Finalize"'
    # 2 x (Init, Comm_rank, Send_init, Recv_init, 8 Irecv, 8 Isend, Pcontrol(0), 2 Request_free, Finalize)
    expect 48 '^ENTER '
  fi
  check_readable "muted $arguments"
  expect 0 '^ENTER .*"MPI_\(Waitall\|Startall\)"'
  expect 16 '^MPI_ISEND '
  expect 0 '^MPI_IRECV '
  expect 0 '^MPI_ISEND_COMPLETE '
  expect 2 '^MEASUREMENT_ON_OFF .*OFF'
  [ -n "$arguments" ] || expect 2 '^MEASUREMENT_ON_OFF .*ON'
done

# MPI_Pcontrol and --window switch the same thing. Before the first Barrier MPI_Pcontrol(1) of part 1 switches
# on, and neither Barrier finds anything to do until MPI_Pcontrol(0) of part 2; the window's end comes later.
rm -rf run.otf2dir print.txt
run 2 "$rubato" trace --window barrier:2:3 -o run.otf2dir ./app 1 0
check_readable both
# Part 1 from MPI_Pcontrol(1) on, with its Barrier, which is the second and would switch on; part 2 begins
# with MPI_Pcontrol(0) and has the third, which would switch off.
expect 2 '^MEASUREMENT_ON_OFF .*ON'
expect 4 '^MEASUREMENT_ON_OFF .*OFF'
expect 2 '^ENTER .*"MPI_Barrier"'
expect 2 '^ENTER .*"MPI_Pcontrol"'

# A thread that makes no call during 65539 switches was switched off by one of the last 65536, which are kept. Switches
# 0, 2, 4 and so on turn recording off; 4 is the first of these that is certainly kept (3 is kept, too, but turns it
# on). So the thread's first OFF is the third of the main thread.
build_program switches -pthread <<'C'
#include <mpi.h>
#include <pthread.h>
static pthread_barrier_t meet;
static void* work(void* nothing) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_barrier_wait(&meet);
  pthread_barrier_wait(&meet);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return nothing;
}
int main(int argc, char** argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  pthread_barrier_init(&meet, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  pthread_barrier_wait(&meet);
  for (int i = 0; i < 65539; ++i) MPI_Pcontrol(i % 2);
  pthread_barrier_wait(&meet);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
C
trace 1 ./switches
check_readable switches
expect 32771 '^MEASUREMENT_ON_OFF .*OFF' # 32770 of the main thread
awk '/^MEASUREMENT_ON_OFF .*OFF/ { if ($2 == 0) main[++n] = $3; else other = $3 }
  END { exit other != main[3] }' print.txt || fail "the thread was not switched off by the main thread's third OFF"

expect_failure 2 "--window 5:3: expected" run 1 "$rubato" trace --window 5:3 -o x.otf2dir ./app 0 0
expect_failure 2 "--window a: expected" run 1 "$rubato" trace --window a -o x.otf2dir ./app 0 0
pass
