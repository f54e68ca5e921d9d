#!/bin/sh
# One-sided communication: windows, operations with the bytes of their origin, and what completes them, as
# Score-P writes it. Operations of one kind (put, get) to one target share a matching id until they
# complete; those with a request have their own. 2 ranks, each to the other.
. "$(dirname "$0")/../lib.sh"
export OMPI_MCA_osc=sm,pt2pt   # what Open MPI 4 takes by itself has no windows on a lone node
build_program app <<'C'
#include <mpi.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int rank, *base, a[10] = {0}, b[10], flag = 0, one = 1, two;
  MPI_Win w, v, self;
  MPI_Request r;
  MPI_Group all, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  int peer = 1 - rank;
  MPI_Comm_group(W, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Win_allocate(400, 4, MPI_INFO_NULL, W, &base, &w);
  MPI_Win_set_name(w, "halo");
  MPI_Win_create(a, 40, 4, MPI_INFO_NULL, W, &v);
  MPI_Win_create(b, 40, 4, MPI_INFO_NULL, MPI_COMM_SELF, &self);
  /* fence: 2 puts and a get: 2 ids, 2 local and 2 remote ends */
  MPI_Win_fence(0, w);
  MPI_Put(a, 10, MPI_INT, peer, 0, 10, MPI_INT, w);
  MPI_Put(a, 5, MPI_INT, peer, 10, 5, MPI_INT, w);
  MPI_Get(b, 3, MPI_INT, peer, 20, 3, MPI_INT, w);
  MPI_Put(a, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, w);
  MPI_Win_fence(0, w);
  /* post, start, complete, wait: 1 id */
  MPI_Win_post(other, 0, v);
  MPI_Win_start(other, 0, v);
  MPI_Accumulate(b, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM, v);
  MPI_Win_complete(v);
  MPI_Win_wait(v);
  /* locks: put and flush_local (local end), put, flush (the other end; 1 id), then get (1 id) */
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, w);
  MPI_Put(a, 1, MPI_INT, peer, 0, 1, MPI_INT, w);
  MPI_Win_flush_local(peer, w);
  MPI_Win_flush(peer, w);
  MPI_Get(b, 1, MPI_INT, peer, 0, 1, MPI_INT, w);
  MPI_Win_unlock(peer, w);
  /* requests: 1 put and 1 get, an id each; atomics: 1 id for both */
  MPI_Win_lock_all(0, w);
  MPI_Rput(a, 4, MPI_INT, peer, 0, 4, MPI_INT, w, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Rget(b, 4, MPI_INT, peer, 0, 4, MPI_INT, w, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Fetch_and_op(&one, &two, MPI_INT, peer, 50, MPI_SUM, w);
  MPI_Compare_and_swap(&one, &two, a, MPI_INT, peer, 51, w);
  MPI_Get_accumulate(0, 0, MPI_INT, b, 6, MPI_INT, peer, 0, 6, MPI_INT, MPI_NO_OP, w);
  MPI_Win_flush_all(w);
  MPI_Win_sync(w);
  MPI_Win_unlock_all(w);
  MPI_Barrier(W);
  MPI_Win_free(&v);
  MPI_Win_free(&w);
  MPI_Win_free(&self);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./app
check_archive
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
[ "$(grep -c '^RMA_WIN ' definitions.txt)" = 3 ] || fail "$(grep -c '^RMA_WIN ' definitions.txt) windows, not 3"
grep -q '^RMA_WIN .*"halo".*"MPI_COMM_WORLD"' definitions.txt || fail "the name of the window"
expect 6 '^RMA_WIN_CREATE '
expect 6 '^RMA_WIN_DESTROY '
expect 16 '^RMA_COLLECTIVE_BEGIN '
expect 4 '^RMA_COLLECTIVE_END .*CREATE_HANDLE, .*PROCESS'
expect 2 '^RMA_COLLECTIVE_END .*CREATE_HANDLE_AND_ALLOCATE'
expect 4 '^RMA_COLLECTIVE_END .*DESTROY_HANDLE, .*PROCESS'
expect 2 '^RMA_COLLECTIVE_END .*DESTROY_HANDLE_AND_DEALLOCATE.*"halo"'
expect 4 '^RMA_COLLECTIVE_END .*BARRIER'
expect 8 '^RMA_PUT '                     # per rank 2 + 1 + 1 Rput
expect 2 '^RMA_PUT .*Bytes: 40,'
expect 2 '^RMA_PUT .*Bytes: 20,'
expect 2 '^RMA_PUT .*Bytes: 16,'
expect 6 '^RMA_GET '
expect 2 '^RMA_GET .*Bytes: 12,'
expect 8 '^RMA_ATOMIC '
expect 2 '^RMA_ATOMIC .*ACCUMULATE.*8.*, .*0,.*'
expect 2 '^RMA_ATOMIC .*COMPARE_AND_SWAP'
expect 2 '^RMA_REQUEST_LOCK .*EXCLUSIVE'
expect 2 '^RMA_REQUEST_LOCK .*SHARED'
expect 4 '^RMA_RELEASE_LOCK '
expect 8 '^RMA_GROUP_SYNC '
# ids per rank: fence 2, epoch 1, lock 2, Rput, Rget, atomics 1
expect 16 '^RMA_OP_COMPLETE_NON_BLOCKING '
expect 16 '^RMA_OP_COMPLETE_REMOTE '
check_replay
# Nothing of it keeps its recorded time, and on no machine do ranks wait for each other for ever.
"$rubato" replay run.otf2dir --on measured --on perfect --on bandela:latency=1us,bandwidth=1GB/s \
  --json out.json >replay.txt 2>&1 || fail "replay: $(cat replay.txt)"
"$python" - <<'PYTHON' || fail "the replayed numbers"
import json
data = json.load(open("out.json"))
measured, perfect, bandela = data["scenarios"][:3]
assert data["trace"]["kept"] == [], data["trace"]["kept"]
assert data["trace"]["communicators"] <= 2, data["trace"]["communicators"]
assert not any(scenario.get("deadlock") for scenario in data["scenarios"])
assert perfect["elapsed"] <= measured["elapsed"], (perfect["elapsed"], measured["elapsed"])
assert perfect["elapsed"] < bandela["elapsed"]
# Each rank makes 4 + 3 + 4 operations, on one node: puts of 40 + 20 + 4 + 16 bytes, an accumulate of
# 8, gets of 12 + 4 + 16, and atomics of 4 + 4, 4 + 4 and 0 + 24 bytes.
traffic = {level: t for level, t in bandela["traffic"].items() if t["messages"]}
assert traffic == {"node": {"messages": 2 * 11, "bytes": 2 * (80 + 8 + 32 + 40)}}, traffic
for rank in measured["ranks"]:
    assert rank["calls"]["MPI_Put"]["bytes_sent"] == 64
    assert rank["calls"]["MPI_Get"]["bytes_received"] == 16
PYTHON

# Windows of other makes, and the ends of operations that the program above does not have: a window whose
# memory comes later, one whose memory is shared, MPI_Win_flush_local_all, MPI_Win_flush_local of two
# targets, MPI_Win_test.
build_program more <<'C'
#include <mpi.h>
#define W MPI_COMM_WORLD
int main(int argc, char** argv) {
  int rank, a[10] = {0}, b[10] = {0}, *base, flag = 0;
  MPI_Aint mine, there;
  MPI_Win d, s;
  MPI_Group all, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  int peer = 1 - rank;
  MPI_Comm_group(W, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Win_create_dynamic(MPI_INFO_NULL, W, &d);
  MPI_Win_attach(d, a, 40);
  MPI_Get_address(a, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, peer, 1, &there, 1, MPI_AINT, peer, 1, W, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, d);
  MPI_Put(b, 7, MPI_INT, peer, there, 7, MPI_INT, d);
  MPI_Win_fence(0, d);
  MPI_Barrier(W);
  MPI_Win_detach(d, a);
  MPI_Win_free(&d);
  MPI_Win_allocate_shared(400, 4, MPI_INFO_NULL, W, &base, &s);
  MPI_Win_set_name(s, "shared");
  MPI_Win_lock_all(0, s);
  MPI_Put(b, 1, MPI_INT, peer, 0, 1, MPI_INT, s);   /* id 1 of 2: two targets */
  MPI_Put(b, 2, MPI_INT, rank, 1, 2, MPI_INT, s);
  MPI_Win_flush_local_all(s);                       /* 2 local ends */
  MPI_Win_flush_all(s);                             /* 2 remote ends */
  MPI_Get(b, 3, MPI_INT, peer, 20, 3, MPI_INT, s);
  MPI_Win_flush_local_all(s);                       /* what is here has left there: both ends */
  MPI_Put(b, 4, MPI_INT, peer, 30, 4, MPI_INT, s);
  MPI_Win_flush_local_all(s);                       /* its local end */
  MPI_Win_unlock_all(s);                            /* its remote end */
  MPI_Barrier(W);
  MPI_Win_post(other, 0, s);
  MPI_Win_start(other, 0, s);
  MPI_Put(b, 5, MPI_INT, peer, 0, 5, MPI_INT, s);
  MPI_Win_complete(s);
  while (!flag) MPI_Win_test(s, &flag);
  MPI_Win_free(&s);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
  MPI_Finalize();
  return 0;
}
C
trace 2 ./more
check_archive
otf2-print -G run.otf2dir/traces.otf2 | grep -c '^RMA_WIN ' | grep -qx 2 || fail "not 2 windows"
expect 2 '^RMA_COLLECTIVE_END .*CREATE_HANDLE, .*PROCESS'
expect 2 '^RMA_COLLECTIVE_END .*DESTROY_HANDLE, .*PROCESS'
expect 2 '^RMA_COLLECTIVE_END .*CREATE_HANDLE_AND_ALLOCATE.*"shared"'
expect 2 '^RMA_COLLECTIVE_END .*DESTROY_HANDLE_AND_DEALLOCATE.*"shared"'
expect 10 '^RMA_PUT '
expect 2 '^RMA_PUT .*Bytes: 28,'
expect 2 '^RMA_GET .*Bytes: 12,'
# in calls of rank 0: within CALL of its N-th call there are LOCAL and REMOTE ends
awk '$2 == 0' print.txt >rank.txt
ends() {
  found=$(awk -v call="\"$1\"" -v nth="$2" '
    $1 == "ENTER" && index($0, call) { n++; inside = n == nth }
    $1 == "LEAVE" { inside = 0 }
    inside && $1 == "RMA_OP_COMPLETE_NON_BLOCKING" { here++ }
    inside && $1 == "RMA_OP_COMPLETE_REMOTE" { there++ }
    END { print here + 0, there + 0 }' rank.txt)
  [ "$found" = "$3 $4" ] || fail "the ${2}th $1 has $found local and remote ends, not $3 $4"
}
ends MPI_Win_fence 1 0 0
ends MPI_Win_fence 2 1 1
ends MPI_Win_flush_local_all 1 2 0
ends MPI_Win_flush_all 1 0 2
ends MPI_Win_flush_local_all 2 1 1
ends MPI_Win_flush_local_all 3 1 0
ends MPI_Win_unlock_all 1 0 1
ends MPI_Win_complete 1 1 1
# post, start, complete; one test finds the epoch ended, those before it say so
tests=$(count '^ENTER .*"MPI_Win_test"')
expect $((6 + tests)) '^RMA_GROUP_SYNC '
expect $((tests - 2)) '^RMA_GROUP_SYNC .*Synchronicity: NONE'
expect 4 '^RMA_GROUP_SYNC .*{PROCESS, MEMORY}'
check_replayed MPI_Win_test  # tests that found nothing, such as MPI_Test
pass
