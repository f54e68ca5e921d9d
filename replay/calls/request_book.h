#pragma once

// State shared by the timelines of one rank while their records become calls.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/calls/reference_tables.h"
#include "replay/trace/action.h"

namespace rubato {

class CallBuilder;

/// The data that a rank exchanges in a neighbourhood collective.
struct NeighbourExchange {
  uint32_t comm;
  uint64_t sent;  ///< bytes to all neighbours
  uint64_t received;
};

/// A nonblocking or persistent exchange.
struct NeighbourRequest {
  NeighbourExchange exchange;
  uint32_t order;  ///< of a persistent one: its number among those of its communicator, from 1
  std::vector<uint32_t> slots;  ///< of its receives, once it is started
};

/// Small reusable numbers for requests: the lowest free one. So a program that repeats itself gets
/// the same numbers again, and its calls have equal shapes (packed_calls.h).
class SlotNumbers {
 public:
  uint32_t allocate() {
    while (first_ < free_.size() && free_[first_] == 0) ++first_;
    if (first_ == free_.size()) free_.push_back(UINT64_MAX);
    uint64_t& word = free_[first_];
    const auto slot = static_cast<uint32_t>(64 * first_) + std::countr_zero(word);
    word &= word - 1;
    ++in_use_;
    return slot;
  }
  void free(uint32_t slot) {
    --in_use_;
    free_[slot / 64] |= uint64_t{1} << slot % 64;
    first_ = std::min(first_, size_t{slot / 64});
  }
  size_t in_use() const { return in_use_; }

 private:
  std::vector<uint64_t> free_;  ///< a bit per number
  size_t first_ = 0;            ///< the words before have no free number
  size_t in_use_ = 0;
};

/// A thread as identified by records: its contingent (a reference of the archive) and its number in
/// it.
using ThreadName = std::pair<uint32_t, uint64_t>;

/// State shared by the timelines of one rank: its open requests, and its threads.
struct RequestBook {
  explicit RequestBook(bool may_reuse_slots = true) : reuse_slots(may_reuse_slots) {}

  /// A posted receive or a started collective.
  struct OpenPost {
    CallBuilder* poster;
    size_t number;  ///< among the posts of the poster
  };

  uint32_t allocate_slot() { return reuse_slots ? slots.allocate() : used_slots++; }
  void free_slot(uint32_t slot) {
    if (reuse_slots) slots.free(slot);
  }

  /// A partitioned message from its start to its completion.
  struct PartitionedSend {
    Action send;  ///< what it is
    /// Where it leaves, as far as known: the last call that made one of its partitions ready.
    OpenPost leaves = {nullptr, 0};
  };

  /// A thread whose creation or begin was seen.
  struct Thread {
    uint32_t created = UINT32_MAX;   ///< slot of its creation
    uint32_t ended = UINT32_MAX;     ///< of its end, once it has begun
    CallBuilder* builder = nullptr;  ///< likewise; builder of its timeline, until it was waited for
    bool is_over = false;
    /// A join that was recorded to leave before the thread ended. `calls_then`: the thread's calls
    /// so far.
    std::optional<OpenPost> early_join = {};
    size_t calls_then = 0;
  };
  /// False for a rank with one timeline: actions of its threads on each other are ignored.
  bool has_threads() const { return !reuse_slots; }

  std::map<ThreadName, Thread> threads;
  RequestTable<OpenPost> receives;
  RequestTable<OpenPost> collectives;
  RequestTable<OpenPost> held_sends;  ///< where sends are held back
  std::map<uint64_t, NeighbourRequest> among_neighbours;
  std::map<uint32_t, uint32_t> neighbour_inits;     ///< number of persistent ones, by communicator
  std::map<uint64_t, PartitionedSend> partitioned;  ///< by request
  std::map<uint64_t, std::vector<Part>> parts;      ///< by persistent request
  /// Bytes (of a send) and block length of the open requests on data in blocks.
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> blocks;
  RequestTable<uint32_t> send_slots;
  RequestTable<uint32_t> one_sided_slots;  ///< by the number that operations share
  /// Threads are not replayed in the order in which their records were read here, so a slot that
  /// was freed and reused could be mistaken for the earlier one.
  bool reuse_slots;
  SlotNumbers slots;
  uint32_t used_slots = 0;  ///< if they are not reused
};

}  // namespace rubato
