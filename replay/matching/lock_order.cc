#include "replay/matching/lock_order.h"

#include <algorithm>
#include <tuple>

namespace rubato {

LockOrder::LockOrder(EventSource& source) {
  const TraceDefinitions& trace = source.definitions();
  const bool any = std::any_of(trace.comms.begin(), trace.comms.end(),
                               [](const Communicator& comm) { return comm.window; });
  if (!any) return;
  std::unordered_map<Key, std::vector<Recorded>, Hash> recorded;
  source.rewind();
  Block block;
  for (int timeline = 0; timeline < trace.timelines(); ++timeline) {
    struct Open {
      double leave = 0;
      bool exclusive = false;
      bool held = false;
      uint32_t taken = 0;  ///< number of locks taken
    };
    std::unordered_map<Key, Open, Hash> open;
    while (source.read(timeline, block)) {
      for (const Call& call : block.calls) {
        for (const Action& action : block.actions_of(call)) {
          const bool locks = action.kind == ActionKind::kLock;
          if ((!locks && action.kind != ActionKind::kUnlock) || action.one_sided.target == kNoRoot)
            continue;
          const Key key{action.comm, action.one_sided.target, 0};
          Open& lock = open[key];
          if (locks) {
            lock = {call.leave, (action.flags & kExclusive) != 0, true, lock.taken + 1};
          } else if (lock.held) {
            lock.held = false;
            recorded[key].push_back(
                {lock.leave, call.enter, call.leave, timeline, lock.taken - 1, lock.exclusive});
          }
        }
      }
    }
  }
  for (auto& [key, holds] : recorded) {
    const bool contended = std::any_of(holds.begin(), holds.end(),
                                       [](const Recorded& hold) { return hold.exclusive; });
    if (contended) assign_turns(key.window, key.target, holds);
  }
}

void LockOrder::assign_turns(uint32_t window, int32_t target, std::vector<Recorded>& holds) {
  std::sort(holds.begin(), holds.end(), [](const Recorded& a, const Recorded& b) {
    return std::tie(a.unlock_leave, a.timeline, a.number) <
           std::tie(b.unlock_leave, b.timeline, b.number);
  });
  std::vector<std::vector<int32_t>>& turns = locks_[{window, target, 0}];
  bool shared = false;
  double over_before = 0;  // end of the previous turn; the first turn cannot have waited
  double over = 0;         // when the last holder of the current turn entered its unlock
  for (const Recorded& hold : holds) {
    if (turns.empty() || hold.exclusive || !shared) {
      over_before = turns.empty() ? hold.lock_leave + 1 : over;
      over = hold.unlock_enter;
      turns.emplace_back();
    }
    shared = !hold.exclusive;
    over = std::max(over, hold.unlock_enter);
    turns.back().push_back(hold.timeline);
    std::vector<Hold>& of = holds_[{window, target, hold.timeline}];
    if (of.size() <= hold.number) of.resize(hold.number + 1);
    of[hold.number] = {static_cast<uint32_t>(turns.size() - 1), hold.lock_leave >= over_before};
  }
}

LockOrder::Hold LockOrder::hold(int timeline, uint32_t window, int target, size_t number) const {
  const auto found = holds_.find({window, target, timeline});
  if (found == holds_.end() || number >= found->second.size()) return {};
  return found->second[number];
}

}  // namespace rubato
