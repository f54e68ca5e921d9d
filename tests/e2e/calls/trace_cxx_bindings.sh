#!/bin/sh
# C++ programs with MPI's own classes for it, which MPI-3 removed and both libraries still have: their calls
# are recorded as those of C, with which a program may mix them.
. "$(dirname "$0")/../lib.sh"
command -v "mpicxx.$flavour" >/dev/null || skip "there is no mpicxx.$flavour"
cat >app.cc <<'CC'
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

namespace {

void largest(const void* in, void* in_out, int count, const MPI::Datatype&) {
  for (int i = 0; i < count; ++i) {
    const int other = static_cast<const int*>(in)[i];
    if (other > static_cast<int*>(in_out)[i]) static_cast<int*>(in_out)[i] = other;
  }
}

void demand(bool good) {
  if (!good) MPI::COMM_WORLD.Abort(1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  const int peer = 1 - rank;
  int x[8] = {rank}, y[8] = {-1};
  MPI::Status status;
  if (rank == 0) {
    MPI::COMM_WORLD.Send(x, 2, MPI::INT, 1, 1);
  } else {
    MPI::COMM_WORLD.Recv(y, 8, MPI::INT, MPI::ANY_SOURCE, 1, status);
    demand(status.Get_source() == 0 && status.Get_count(MPI::INT) == 2 && y[0] == 0);
  }
  MPI::COMM_WORLD.Sendrecv(x, 3, MPI::INT, peer, 2, y, 3, MPI::INT, peer, 2);
  MPI::Request requests[2] = {MPI::COMM_WORLD.Irecv(y, 4, MPI::INT, peer, 3),
                              MPI::COMM_WORLD.Issend(x, 4, MPI::INT, peer, 3)};
  MPI::Request::Waitall(2, requests);
  requests[0] = MPI::COMM_WORLD.Irecv(y, 4, MPI::INT, peer, 4);
  requests[1] = MPI::COMM_WORLD.Isend(x, 1, MPI::INT, peer, 4);
  MPI::Status statuses[2];
  MPI::Request::Waitall(2, requests, statuses);
  demand(statuses[0].Get_count(MPI::INT) == 1);
  MPI::Prequest persistent[2] = {MPI::COMM_WORLD.Recv_init(y, 5, MPI::INT, peer, 5),
                                 MPI::COMM_WORLD.Send_init(x, 5, MPI::INT, peer, 5)};
  for (int i = 0; i < 2; ++i) {
    MPI::Prequest::Startall(2, persistent);
    persistent[0].Wait();
    persistent[1].Wait();
  }
  persistent[0].Free();
  persistent[1].Free();
  MPI::Op op;
  op.Init(largest, true);
  int most = -1;
  MPI::COMM_WORLD.Allreduce(&rank, &most, 1, MPI::INT, op);
  demand(most == 1);
  op.Free();
  MPI::COMM_WORLD.Bcast(x, 6, MPI::INT, 1);
  int counts[2] = {1, 2}, from[2] = {rank + 1, rank + 1}, at[2] = {0, 4};
  MPI::COMM_WORLD.Alltoallv(x, counts, at, MPI::INT, y, from, at, MPI::INT);
  MPI::Intracomm half = MPI::COMM_WORLD.Split(rank, 0);
  half.Barrier();
  half.Free();
  const int dims[1] = {2};
  const bool periods[1] = {true};
  MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
  ring.Barrier();
  ring.Free();
  MPI_Barrier(MPI_COMM_WORLD);
  /* MPICH throws it through the tracer's frames; Debian's Open MPI is built without */
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  bool thrown = false;
  try {
    MPI::COMM_WORLD.Send(x, 1, MPI::INT, 17, 0);
  } catch (MPI::Exception& e) {
    thrown = e.Get_error_class() == MPI::ERR_RANK;
  }
  std::printf("thrown: %d\n", thrown);
  MPI::Finalize();
}
CC
"mpicxx.$flavour" -std=gnu++14 -O1 -w -o app app.cc >compile.txt 2>&1 || skip "no bindings: $(head -3 compile.txt)"
run 2 ./app >plain.txt 2>plain.err || skip "untraced, it fails: $(tail -1 plain.err)"
trace 2 ./app >traced.txt
cmp plain.txt traced.txt || fail "another outcome: $(diff plain.txt traced.txt)"
check_archive
expect 3 '^MPI_SEND '             # rank 0's, and each one's MPI_Sendrecv
expect 3 '^MPI_RECV '
expect 1 '^MPI_RECV  *1 .*Tag: 1, Length: 8$'
expect 8 '^MPI_ISEND '            # per rank Issend, Isend, 2 starts
expect 8 '^MPI_ISEND_COMPLETE '
expect 8 '^MPI_IRECV_REQUEST '
expect 8 '^MPI_IRECV '
expect 2 '^MPI_IRECV .*Tag: 4, Length: 4,'
expect 2 '^MPI_COLLECTIVE_END .*ALLREDUCE.*Sent: 8, Received: 8'
expect 1 '^MPI_COLLECTIVE_END  *1 .*BCAST.*Sent: 48, Received: 24'
expect 1 '^MPI_COLLECTIVE_END  *0 .*ALLTOALLV.*Sent: 12, Received: 8'
expect 1 '^MPI_COLLECTIVE_END  *1 .*ALLTOALLV.*Sent: 12, Received: 16'
expect 8 '^MPI_COMM_CREATE\|^COMM_CREATE '  # world, self, half and ring, on 2 ranks
expect 2 '^ENTER  *0 .*"MPI_Send"'          # with the failed call, after which recording continues
expect 2 '^ENTER .*"MPI_Finalize"'
check_replayed none
pass
