#include "replay/compare/run_difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/base/error.h"
#include "models/base/units.h"
#include "replay/compare/alignment.h"

namespace rubato {
namespace {

/// The description of an operation: "MPI_Send of 8 KiB to 0".
OperationPlace place_of(const Operation& operation, const TraceDefinitions& trace) {
  const LoggedCall& call = operation.call;
  if (operation.is_end) return {call.event, "the end of the run"};
  std::string what = trace.calls[call.name].name;
  if (operation.polls) return {call.event, what + " and other polls"};
  if (call.bytes > 0) what += " of " + spaced_bytes(static_cast<double>(call.bytes));
  switch (call.peer_kind) {
    case PeerKind::kTo:
      what += " to " + std::to_string(call.peer);
      break;
    case PeerKind::kFrom:
      what += " from " + std::to_string(call.peer);
      break;
    case PeerKind::kRoot:
      what += " with root " + std::to_string(call.peer);
      break;
    case PeerKind::kNone:
      break;
  }
  const bool tagged = call.peer_kind == PeerKind::kTo || call.peer_kind == PeerKind::kFrom;
  if (tagged && call.tag > 0 && call.tag < kNeighbourTag)
    what += " with tag " + std::to_string(call.tag);
  return {call.event, what};
}

class Comparer {
 public:
  Comparer(const CallLog& before, const CallLog& after, double threshold, size_t largest)
      : before_(before), after_(after), threshold_(threshold), largest_(largest) {
    result_.by_rank.resize(before.trace().ranks());
  }

  RunDifference run() {
    const TraceDefinitions& before = before_.trace();
    const TraceDefinitions& after = after_.trace();
    // Threads are paired by rank and number; a thread of only one run is compared with nothing.
    std::map<std::pair<int, int>, std::pair<int, int>> timelines;
    for (int timeline = 0; timeline < before.timelines(); ++timeline) {
      timelines.emplace(std::pair(before.rank_of(timeline), before.thread_of(timeline)),
                        std::pair(timeline, -1));
    }
    for (int timeline = 0; timeline < after.timelines(); ++timeline) {
      timelines
          .emplace(std::pair(after.rank_of(timeline), after.thread_of(timeline)), std::pair(-1, -1))
          .first->second.second = timeline;
    }
    for (const auto& [thread, numbers] : timelines) {
      std::tie(rank_, thread_) = thread;
      compare(numbers.first, numbers.second);
    }
    std::sort(result_.largest.begin(), result_.largest.end(),
              [](const OperationGap& a, const OperationGap& b) {
                return std::abs(a.gap()) > std::abs(b.gap());
              });
    return std::move(result_);
  }

 private:
  void compare(int before, int after) {
    OperationReader before_reader(before_, before), after_reader(after_, after);
    before_begin_ = before_reader.begin();
    after_begin_ = after_reader.begin();
    seen_drift_ = seen_difference_ = false;
    align(before_reader, after_reader, [this](const AlignedStep& step) { visit(step); });
  }

  void visit(const AlignedStep& step) {
    const bool both = step.before && step.after;
    // Levels are those of the run after the change, because its machine is examined.
    const Operation& shape = step.after ? *step.after : *step.before;
    if (step.before) {
      book<&TimePair::before, &TimePair::before_calls>(*step.before, shape, before_.trace());
    }
    if (step.after) {
      book<&TimePair::after, &TimePair::after_calls>(*step.after, shape, after_.trace());
    }
    if (both && step.before->is_end) return look_at_drift(step);
    ++(!both ? (step.before ? result_.only_before : result_.only_after)
             : (step.same ? result_.same : result_.different));
    if (!step.same) look_at_difference(step);
    if (!both) return;
    look_at_drift(step);
    keep_if_large(step);
  }

  template <double TimePair::*time, uint64_t TimePair::*calls>
  void book(const Operation& operation, const Operation& shape, const TraceDefinitions& trace) {
    for (int part = 0; part < kOutsideParts; ++part) {
      if (operation.outside[part] == 0) continue;
      result_.by_call[kOutsideNames[part]].*time += operation.outside[part];
      result_.by_rank[rank_].*time += operation.outside[part];
    }
    if (operation.is_end) return;
    const std::string& name = trace.calls[operation.call.name].name;
    const auto add = [&](TimePair& pair) {
      pair.*time += operation.inside;
      pair.*calls += operation.calls;
    };
    add(result_.by_call[name]);
    add(result_.by_level[shape.call.level]);
    add(result_.by_size[{name, shape.call.level, std::bit_floor(shape.call.bytes)}]);
    add(result_.by_rank[rank_]);
  }

  void fill(Divergence& divergence, const AlignedStep& step) const {
    divergence.rank = rank_;
    divergence.thread = thread_;
    if (step.before) {
      divergence.before = place_of(*step.before, before_.trace());
      divergence.time = step.before->call.enter - before_begin_;
    }
    if (step.after) {
      divergence.after = place_of(*step.after, after_.trace());
      divergence.time = step.after->call.enter - after_begin_;
    }
  }

  void look_at_difference(const AlignedStep& step) {
    if (seen_difference_) return;
    seen_difference_ = true;
    Divergence divergence;
    fill(divergence, step);
    if (result_.first_difference && result_.first_difference->time <= divergence.time) return;
    result_.first_difference = divergence;
  }

  void look_at_drift(const AlignedStep& step) {
    const Operation &before = *step.before, &after = *step.after;
    const double drift = (after.leave - after_begin_) - (before.leave - before_begin_);
    if (seen_drift_ || !(std::abs(drift) > threshold_)) return;
    seen_drift_ = true;
    Drift found;
    fill(found, step);
    found.drift = drift;
    found.inside = after.inside - before.inside;
    for (int part = 0; part < kOutsideParts; ++part)
      found.outside += after.outside[part] - before.outside[part];
    found.since =
        (std::abs(found.outside) >= std::abs(found.inside) ? after.call.enter : after.leave) -
        after_begin_;
    if (!result_.first_drift || found.since < result_.first_drift->since)
      result_.first_drift = found;
  }

  /// result_.largest is a heap with the smallest gap on top.
  void keep_if_large(const AlignedStep& step) {
    const double gap = step.after->inside - step.before->inside;
    const auto larger = [](const OperationGap& a, const OperationGap& b) {
      return std::abs(a.gap()) > std::abs(b.gap());
    };
    std::vector<OperationGap>& heap = result_.largest;
    if (largest_ == 0 || gap == 0) return;
    if (heap.size() == largest_) {
      if (std::abs(gap) <= std::abs(heap.front().gap())) return;
      std::pop_heap(heap.begin(), heap.end(), larger);
      heap.pop_back();
    }
    OperationGap entry;
    fill(entry, step);
    entry.before_seconds = step.before->inside;
    entry.after_seconds = step.after->inside;
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end(), larger);
  }

  const CallLog& before_;
  const CallLog& after_;
  double threshold_;
  size_t largest_;
  RunDifference result_;
  // The timelines that are compared now.
  int rank_ = 0;
  int thread_ = 0;
  double before_begin_ = 0;
  double after_begin_ = 0;
  bool seen_drift_ = false;
  bool seen_difference_ = false;
};

}  // namespace

RunDifference difference_of(const CallLog& before, const CallLog& after, double threshold,
                            size_t largest) {
  const TraceDefinitions& a = before.trace();
  const TraceDefinitions& b = after.trace();
  if (a.ranks() != b.ranks()) {
    throw InputError(a.path + " has " + std::to_string(a.ranks()) + " ranks, " + b.path + " has " +
                     std::to_string(b.ranks()) +
                     ": only runs with equal numbers of ranks can be aligned");
  }
  return Comparer(before, after, threshold, largest).run();
}

}  // namespace rubato
