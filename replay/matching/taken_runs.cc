#include "replay/matching/taken_runs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "replay/store/packed_calls.h"

namespace rubato {
namespace {

/// Finds the runs of one timeline, call by call.
class RunFinder {
 public:
  RunFinder(const TraceDefinitions& trace, std::vector<TakenRun>& runs)
      : trace_(&trace), runs_(&runs) {}

  void call(const Call& call, std::span<const Action> actions) {
    const MpiCallInfo& info = trace_->calls[call.name];
    if (call.role == CallRole::kMpi && info.takes_some && only_completes(actions)) {
      take(call, actions);
    } else if (!is_harmless(call, info)) {
      end();
    }
  }

  void end() {
    if (calls_ > 1) runs_->push_back(std::move(run_));
    run_ = {};
    calls_ = 0;
  }

 private:
  static bool only_completes(std::span<const Action> actions) {
    return std::all_of(actions.begin(), actions.end(), [](const Action& action) {
      return action.kind == ActionKind::kWaitReceive || action.kind == ActionKind::kWaitSend ||
             action.kind == ActionKind::kTested || action.kind == ActionKind::kLost;
    });
  }

  /// A call that does not communicate, or found nothing.
  static bool is_harmless(const Call& call, const MpiCallInfo& info) {
    switch (call.role) {
      case CallRole::kFlush:
      case CallRole::kStolen:
        return true;
      case CallRole::kMpi:
        return call.is_kept() && (info.tests || info.without_records == CallClass::kLocal);
      default:
        return false;
    }
  }

  void take(const Call& call, std::span<const Action> actions) {
    const size_t before = run_.slots.size();
    for (const Action& action : actions) {
      if (action.kind == ActionKind::kWaitReceive) run_.slots.push_back(action.request.slot);
    }
    if (run_.slots.size() == before) return;
    if (calls_++ == 0) run_.first = call.event;
    run_.last = call.event;
  }

  const TraceDefinitions* trace_;
  std::vector<TakenRun>* runs_;
  TakenRun run_;
  size_t calls_ = 0;  ///< calls that took receives
};

}  // namespace

TakenRuns::TakenRuns(EventSource& source) : runs_(source.definitions().timelines()) {
  const TraceDefinitions& trace = source.definitions();
  source.rewind();
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    if (trace.timelines_of(rank).size() > 1) continue;
    RunFinder finder(trace, runs_[rank]);
    Block block;
    const auto look = [&](const Call& call) {
      block.take_up(call);
      finder.call(call, block.actions_of(call));
    };
    while (source.read(rank, block)) {
      for (const Call& call : block.calls) look(call);
      CallUnpacker* const unpacker = source.unpacker(rank);
      while (unpacker && unpacker->read_next(block)) look(block.calls[0]);
    }
    finder.end();
  }
  source.rewind();
}

}  // namespace rubato
