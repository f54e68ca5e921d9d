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
  if (call.bytes > 0) what += " of " + format_bytes(static_cast<double>(call.bytes));
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
  Comparer(const LoggedRun& predicted, const LoggedRun& measured, double threshold, size_t largest)
      : predicted_(predicted), measured_(measured), threshold_(threshold), largest_(largest) {
    result_.by_rank.resize(predicted.log->trace().ranks());
  }

  RunDifference run() {
    const TraceDefinitions& predicted = predicted_.log->trace();
    const TraceDefinitions& measured = measured_.log->trace();
    // Threads are paired by rank and number; a thread of only one run is compared with nothing.
    std::map<std::pair<int, int>, std::pair<int, int>> timelines;
    for (int timeline = 0; timeline < predicted.timelines(); ++timeline) {
      timelines.emplace(std::pair(predicted.rank_of(timeline), predicted.thread_of(timeline)),
                        std::pair(timeline, -1));
    }
    for (int timeline = 0; timeline < measured.timelines(); ++timeline) {
      timelines
          .emplace(std::pair(measured.rank_of(timeline), measured.thread_of(timeline)),
                   std::pair(-1, -1))
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
  void compare(int predicted, int measured) {
    FunctionSums predicted_sums{}, measured_sums{};
    OperationReader predicted_reader(*predicted_.log, predicted, predicted_.function_times,
                                     &predicted_sums);
    OperationReader measured_reader(*measured_.log, measured, measured_.function_times,
                                    &measured_sums);
    predicted_begin_ = predicted_reader.begin();
    measured_begin_ = measured_reader.begin();
    seen_drift_ = seen_difference_ = false;
    align(predicted_reader, measured_reader, [this](const AlignedStep& step) { visit(step); });
    for (size_t bit = 0; bit < predicted_.functions.size(); ++bit)
      result_.by_function[predicted_.functions[bit]].predicted += predicted_sums[bit];
    for (size_t bit = 0; bit < measured_.functions.size(); ++bit)
      result_.by_function[measured_.functions[bit]].measured += measured_sums[bit];
  }

  void visit(const AlignedStep& step) {
    const bool both = step.predicted && step.measured;
    // Levels are those of the measured run, because its machine is examined.
    const Operation& shape = step.measured ? *step.measured : *step.predicted;
    if (step.predicted) {
      book<&TimePair::predicted, &TimePair::predicted_calls>(*step.predicted, shape,
                                                             predicted_.log->trace());
    }
    if (step.measured) {
      book<&TimePair::measured, &TimePair::measured_calls>(*step.measured, shape,
                                                           measured_.log->trace());
    }
    if (both && step.predicted->is_end) return look_at_drift(step);
    ++(!both ? (step.predicted ? result_.only_predicted : result_.only_measured)
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
    if (step.predicted) {
      divergence.predicted = place_of(*step.predicted, predicted_.log->trace());
      divergence.time = step.predicted->call.enter - predicted_begin_;
    }
    if (step.measured) {
      divergence.measured = place_of(*step.measured, measured_.log->trace());
      divergence.time = step.measured->call.enter - measured_begin_;
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
    const Operation &predicted = *step.predicted, &measured = *step.measured;
    const double drift = (predicted.leave - predicted_begin_) - (measured.leave - measured_begin_);
    if (seen_drift_ || !(std::abs(drift) > threshold_)) return;
    seen_drift_ = true;
    Drift found;
    fill(found, step);
    if (result_.first_drift && result_.first_drift->time <= found.time) return;
    found.drift = drift;
    found.inside = predicted.inside - measured.inside;
    for (int part = 0; part < kOutsideParts; ++part)
      found.outside += predicted.outside[part] - measured.outside[part];
    result_.first_drift = found;
  }

  /// result_.largest is a heap with the smallest gap on top.
  void keep_if_large(const AlignedStep& step) {
    const double gap = step.predicted->inside - step.measured->inside;
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
    entry.predicted_seconds = step.predicted->inside;
    entry.measured_seconds = step.measured->inside;
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end(), larger);
  }

  const LoggedRun& predicted_;
  const LoggedRun& measured_;
  double threshold_;
  size_t largest_;
  RunDifference result_;
  // The timelines that are compared now.
  int rank_ = 0;
  int thread_ = 0;
  double predicted_begin_ = 0;
  double measured_begin_ = 0;
  bool seen_drift_ = false;
  bool seen_difference_ = false;
};

}  // namespace

RunDifference difference_of(const LoggedRun& predicted, const LoggedRun& measured, double threshold,
                            size_t largest) {
  const TraceDefinitions& a = predicted.log->trace();
  const TraceDefinitions& b = measured.log->trace();
  if (a.ranks() != b.ranks()) {
    throw InputError(a.path + " has " + std::to_string(a.ranks()) + " ranks, " + b.path + " has " +
                     std::to_string(b.ranks()) +
                     ": only runs with equal numbers of ranks can be aligned");
  }
  return Comparer(predicted, measured, threshold, largest).run();
}

}  // namespace rubato
