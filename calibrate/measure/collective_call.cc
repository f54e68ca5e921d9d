#include "calibrate/measure/collective_call.h"

#include <algorithm>
#include <cassert>

namespace rubato {
namespace {

bool reduces(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kReduce:
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return true;
    default:
      return false;
  }
}

/// How many payloads the larger buffer holds.
size_t payloads(CollectiveOp op, int members) {
  switch (op) {
    case CollectiveOp::kBarrier:
    case CollectiveOp::kBcast:
    case CollectiveOp::kReduce:
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return 1;
    default:
      return static_cast<size_t>(members);
  }
}

int members_of(MPI_Comm comm) {
  int members = 0;
  MPI_Comm_size(comm, &members);
  return members;
}

size_t buffer_size(MPI_Comm comm, CollectiveOp op, size_t bytes) {
  return std::max<size_t>(1, CollectiveCall::memory(op, members_of(comm), bytes) / 2);
}

}  // namespace

const std::vector<CollectiveOp>& measured_collectives() {
  static const std::vector<CollectiveOp> operations = {
      CollectiveOp::kBarrier,   CollectiveOp::kBcast,      CollectiveOp::kGather,
      CollectiveOp::kGatherv,   CollectiveOp::kScatter,    CollectiveOp::kScatterv,
      CollectiveOp::kAllgather, CollectiveOp::kAllgatherv, CollectiveOp::kAlltoall,
      CollectiveOp::kAlltoallv, CollectiveOp::kReduce,     CollectiveOp::kAllreduce,
      CollectiveOp::kScan,      CollectiveOp::kExscan,     CollectiveOp::kReduceScatter};
  return operations;
}

size_t CollectiveCall::memory(CollectiveOp op, int members, size_t bytes) {
  return 2 * payloads(op, members) * bytes;
}

CollectiveCall::CollectiveCall(MPI_Comm comm, CollectiveOp op, size_t bytes, size_t cold_bytes)
    : comm_(comm),
      op_(op),
      count_(static_cast<int>(reduces(op) ? bytes / sizeof(double) : bytes)),
      counts_(static_cast<size_t>(members_of(comm)), count_),
      used_(buffer_size(comm, op, bytes)),
      // Zeros, so that repeated sums do not overflow.
      send_(std::max(used_, cold_bytes), 0),
      receive_(send_.size(), 0),
      walk_(send_.size()) {
  for (size_t i = 0; i < counts_.size(); ++i) offsets_.push_back(static_cast<int>(i) * count_);
}

void CollectiveCall::operator()() {
  const size_t place = walk_.next(used_);  // the begin, if there is no more than one
  void* const from = send_.data() + place;
  void* const to = receive_.data() + place;
  const MPI_Datatype type = reduces(op_) ? MPI_DOUBLE : MPI_BYTE;
  const int* const counts = counts_.data();
  const int* const offsets = offsets_.data();
  constexpr int kRoot = 0;
  switch (op_) {
    case CollectiveOp::kBarrier:
      MPI_Barrier(comm_);
      return;
    case CollectiveOp::kBcast:
      MPI_Bcast(from, count_, type, kRoot, comm_);
      return;
    case CollectiveOp::kGather:
      MPI_Gather(from, count_, type, to, count_, type, kRoot, comm_);
      return;
    case CollectiveOp::kGatherv:
      MPI_Gatherv(from, count_, type, to, counts, offsets, type, kRoot, comm_);
      return;
    case CollectiveOp::kScatter:
      MPI_Scatter(from, count_, type, to, count_, type, kRoot, comm_);
      return;
    case CollectiveOp::kScatterv:
      MPI_Scatterv(from, counts, offsets, type, to, count_, type, kRoot, comm_);
      return;
    case CollectiveOp::kAllgather:
      MPI_Allgather(from, count_, type, to, count_, type, comm_);
      return;
    case CollectiveOp::kAllgatherv:
      MPI_Allgatherv(from, count_, type, to, counts, offsets, type, comm_);
      return;
    case CollectiveOp::kAlltoall:
      MPI_Alltoall(from, count_, type, to, count_, type, comm_);
      return;
    case CollectiveOp::kAlltoallv:
      MPI_Alltoallv(from, counts, offsets, type, to, counts, offsets, type, comm_);
      return;
    case CollectiveOp::kReduce:
      MPI_Reduce(from, to, count_, type, MPI_SUM, kRoot, comm_);
      return;
    case CollectiveOp::kAllreduce:
      MPI_Allreduce(from, to, count_, type, MPI_SUM, comm_);
      return;
    case CollectiveOp::kReduceScatter:
      MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, comm_);
      return;
    case CollectiveOp::kScan:
      MPI_Scan(from, to, count_, type, MPI_SUM, comm_);
      return;
    case CollectiveOp::kExscan:
      MPI_Exscan(from, to, count_, type, MPI_SUM, comm_);
      return;
    default:
      assert(!"not a measured collective");
  }
}

}  // namespace rubato
