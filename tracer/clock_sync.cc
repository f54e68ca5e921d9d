#include "tracer/clock_sync.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tracer/clock.h"

namespace rubato {
namespace {

constexpr int kRounds = 50;
constexpr int kTag = 0;

/// Rank 0 tells its time to whoever asks.
void answer(MPI_Comm comm, int peer) {
  for (int i = 0; i < kRounds; ++i) {
    char request = 0;
    PMPI(Recv)(&request, 1, handles.byte, peer, kTag, comm, MPI_STATUS_IGNORE);
    int64_t now = static_cast<int64_t>(Clock::now());
    PMPI(Send)(&now, 1, handles.int64, peer, kTag, comm);
  }
}

ClockOffset ask(MPI_Comm comm) {
  ClockOffset best;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kRounds; ++i) {
    char request = 0;
    int64_t theirs = 0;
    const uint64_t before = Clock::now();
    PMPI(Send)(&request, 1, handles.byte, 0, kTag, comm);
    PMPI(Recv)(&theirs, 1, handles.int64, 0, kTag, comm, MPI_STATUS_IGNORE);
    const uint64_t after = Clock::now();
    const uint64_t middle = before + (after - before) / 2;
    if (after - before < shortest) {
      shortest = after - before;
      best.time = middle;
      best.offset = theirs - static_cast<int64_t>(middle);
      // Whichever way the trip was lopsided, the truth is within half of it.
      best.deviation = static_cast<double>(shortest) / 2 / std::sqrt(3.0);
    }
  }
  return best;
}

}  // namespace

void NodeClocks::start(MPI_Comm comm) {
  comm_ = comm;
  PMPI(Comm_rank)(comm, &rank_);
  PMPI(Comm_size)(comm, &size_);
  PMPI(Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, rank_, handles.info_null, &node_);
  leader_ = rank_;
  PMPI(Bcast)(&leader_, static_cast<int>(sizeof leader_), handles.byte, 0, node_);
  int64_t highest_leader = leader_;
  int64_t highest = 0;
  PMPI(Allreduce)(&highest_leader, &highest, 1, handles.int64, handles.max, comm);
  one_node_ = highest == 0;
}

ClockOffset NodeClocks::measure() const {
  ClockOffset result;
  result.time = Clock::now();
  if (one_node_) return result;

  std::vector<int> leaders(static_cast<size_t>(size_));
  const int bytes = static_cast<int>(sizeof(int));
  PMPI(Gather)(&leader_, bytes, handles.byte, leaders.data(), bytes, handles.byte, 0, comm_);
  if (rank_ == 0) {
    std::sort(leaders.begin(), leaders.end());
    leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
    for (const int leader : leaders) {
      if (leader != 0) answer(comm_, leader);
    }
  } else if (rank_ == leader_) {
    result = ask(comm_);
  }
  PMPI(Bcast)(&result, static_cast<int>(sizeof result), handles.byte, 0, node_);
  return result;
}

void NodeClocks::finish() {
  PMPI(Comm_free)(&node_);
}

}  // namespace rubato
