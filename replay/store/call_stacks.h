#pragma once

// The call paths of all timelines in one tree, for pictures: of instrumented functions, of samples,
// and of call sites.

#include <cstdint>
#include <vector>

#include "replay/store/call_places.h"
#include "replay/trace/trace.h"

namespace rubato {

class CallStacks {
 public:
  explicit CallStacks(const EventSource& source) : source_(&source) {}

  /// To be called when a replay begins: its source may have other places.
  void begin() { by_path_.assign(source_->definitions().timelines(), {}); }

  /// The node of a path in CallPlaces::paths().
  uint32_t of_path(int timeline, uint32_t path);
  /// The node of the function that makes a call.
  uint32_t of_call(int timeline, const CallPlace& place);

  /// Node CallTree::kRoot: not known. Nodes keep their numbers.
  const CallTree& tree() const { return tree_; }

 private:
  uint32_t of_site(uint32_t site);

  const EventSource* source_;
  CallTree tree_;
  std::vector<CallSite> sites_;                 ///< of the source
  std::vector<uint32_t> by_site_;               ///< nodes; kNoPlace: not looked up yet
  std::vector<std::vector<uint32_t>> by_path_;  ///< by timeline
};

}  // namespace rubato
