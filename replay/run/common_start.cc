#include "replay/run/common_start.h"

#include <algorithm>
#include <map>
#include <optional>

#include "replay/store/packed_calls.h"

namespace rubato {
namespace {

/// If a rank makes more calls before it, MPI_Init is ignored.
constexpr int kMostCallsBefore = 4096;

struct InitLeave {
  uint32_t comm = 0;
  double time = 0;
};

/// The leave of an MPI_Init that was recorded as collective, with no communication before it.
std::optional<InitLeave> init_leave(EventSource& source, int rank) {
  const std::vector<Communicator>& comms = source.definitions().comms;
  Block block;
  int calls = 0;
  const auto look = [&](const Call& call, std::optional<InitLeave>& found) {
    const bool communicates = call.role == CallRole::kMpi && call.actions > 0;
    if (call.role != CallRole::kInit) return communicates || ++calls == kMostCallsBefore;
    block.take_up(call);
    for (const Action& action : block.actions_of(call)) {
      if (found || comms[action.comm].size() <= 1) continue;  // MPI_COMM_SELF is made, too
      found = {action.comm, call.leave};
    }
    return true;
  };
  std::optional<InitLeave> found;
  while (source.read(rank, block)) {
    for (const Call& call : block.calls) {
      if (look(call, found)) return found;
    }
    CallUnpacker* const unpacker = source.unpacker(rank);
    while (unpacker && unpacker->read_next(block)) {
      if (look(block.calls[0], found)) return found;
    }
  }
  return found;
}

}  // namespace

std::vector<double> start_shifts(EventSource& source, DividedRun* divided) {
  const int ranks = source.definitions().ranks();
  source.rewind();
  std::vector<std::optional<InitLeave>> leaves(ranks);
  std::map<uint32_t, double> last;  // by communicator
  for (int rank = 0; rank < ranks; ++rank) {
    if (divided && divided->division().owner(rank) != divided->team().self()) continue;
    leaves[rank] = init_leave(source, rank);
    if (!leaves[rank]) continue;
    const auto [entry, is_new] = last.try_emplace(leaves[rank]->comm, leaves[rank]->time);
    if (!is_new) entry->second = std::max(entry->second, leaves[rank]->time);
  }
  source.rewind();
  if (divided) divided->take_largest(last);
  std::vector<double> shifts(ranks, kAsRecorded);
  for (int rank = 0; rank < ranks; ++rank) {
    if (leaves[rank]) shifts[rank] = last[leaves[rank]->comm] - leaves[rank]->time;
  }
  return shifts;
}

}  // namespace rubato
