#include "replay/calls/function_clock.h"

#include <algorithm>
#include <utility>

namespace rubato {

// The time of an enter or leave is read first: what recording costs is time of the function that
// runs after it.
void FunctionClock::take_time(double time) {
  const double ticks = stopped_ == 0 ? std::max(0.0, time - since_) : 0;
  const uint32_t probes = std::exchange(probes_, 0);
  since_ = time;
  if (open_.empty() || (ticks == 0 && probes == 0)) return;
  if (tree_) add_node_part(open_.back().node, ticks, probes);
  if (places_) add_part(open_.back().function.number, ticks, probes);
  uint64_t functions = 0;
  for (const Open& open : open_) functions |= open.function.chosen;
  if (functions == 0) return;
  const auto same = std::find_if(gap_.begin(), gap_.end(), [&](const FunctionTime& part) {
    return part.functions == functions;
  });
  if (same == gap_.end()) return gap_.push_back({0, functions, ticks, probes});
  same->ticks += ticks;
  same->probes += probes;
}

void FunctionClock::add_part(uint32_t function, double ticks, uint32_t probes) {
  const auto same = std::find_if(parts_.rbegin(), parts_.rend(), [&](const FunctionPart& part) {
    return part.function == function;
  });
  if (same != parts_.rend()) {
    same->ticks += ticks;
    same->probes += probes;
  } else if (parts_.size() < kMostParts) {
    parts_.push_back({function, ticks, probes});
  }
}

// The ticks are also added to the tree at once; lose() takes a part of them back.
void FunctionClock::add_node_part(uint32_t node, double ticks, uint32_t probes) {
  (*tree_)[node].ticks += ticks;
  (*tree_)[node].probes += probes;
  const auto same = std::find_if(node_parts_.rbegin(), node_parts_.rend(),
                                 [&](const NodePart& part) { return part.node == node; });
  if (same != node_parts_.rend())
    same->ticks += ticks;
  else if (node_parts_.size() < kMostParts)
    node_parts_.push_back({node, ticks});
}

void FunctionClock::enter_function(Function function, double time) {
  if (matters(function)) {
    take_time(time);
    uint32_t node = CallTree::kRoot;
    if (tree_) {
      node = tree_->call(open_.empty() ? node : open_.back().node, function.number);
      if (stopped_ == 0) ++(*tree_)[node].calls;
    }
    open_.push_back({function, node});
  }
  if (stopped_ == 0) ++probes_;
}

void FunctionClock::leave_function(Function function, double time) {
  if (matters(function)) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Open& open) { return open.function == function; });
    if (found != open_.rend()) {  // else its enter was not recorded
      take_time(time);
      open_.erase(std::next(found).base(), open_.end());  // with callees that have no leave
    }
  }
  if (stopped_ == 0) ++probes_;
}

void FunctionClock::begin_window() {
  if (gaps_) gaps_->begin_window();
  if (!tree_) return;
  tree_->clear();
  for (const Open& open : open_) ++(*tree_)[open.node].calls;
}

void FunctionClock::end_window() {
  tree_ = nullptr;
  if (gaps_) gaps_->end_window();
}

void FunctionClock::sample(std::span<const Function> path, double ticks, double time) {
  if (path.empty()) return;
  if (gaps_ && stopped_ == 0) gaps_->sample(path, ticks, time - began_);
  if (!samples_) return;
  SampleSum& own = (*samples_)[path.back().number];
  own.exclusive += ticks;
  ++own.exclusive_samples;
  for (size_t i = 0; i < path.size(); ++i) {
    if (std::find(path.begin() + static_cast<std::ptrdiff_t>(i) + 1, path.end(), path[i]) !=
        path.end())
      continue;  // recursion
    SampleSum& sum = (*samples_)[path[i].number];
    sum.inclusive += ticks;
    ++sum.inclusive_samples;
  }
}

void FunctionClock::stop(uint64_t event, double time, uint32_t site, uint32_t caller,
                         uint32_t call) {
  take_time(time);
  if (stopped_++ > 0) return;
  if (gaps_) {
    const double ticks = std::max(0.0, time - began_ - lost_);
    const uint32_t kind = gaps_->end_gap(site, call, ticks);
    if (ticks > 0) parts_.push_back({kFirstGapKind + kind, ticks});
    if (ticks > 0) gap_.push_back({0, kind, ticks});
  }
  if (places_) {
    const uint32_t function = open_.empty() ? caller : open_.back().function.number;
    places_->add(timeline_, event, function, site, parts_);
  }
  parts_.clear();
  node_parts_.clear();
  for (FunctionTime& part : gap_) {
    part.event = event;
    if (times_) times_->push_back(part);
  }
  gap_.clear();
}

void FunctionClock::go(double time) {
  take_time(time);
  if (stopped_ > 0) --stopped_;
  began_ = time;
  lost_ = 0;
}

void FunctionClock::lose(double ticks, double time) {
  take_time(time);
  if (time <= began_) return;
  lost_ += ticks;
  const double left = std::max(0.0, 1 - ticks / (time - began_));
  for (FunctionTime& part : gap_) part.ticks *= left;
  for (FunctionPart& part : parts_) part.ticks *= left;
  for (NodePart& part : node_parts_) {
    if (tree_) (*tree_)[part.node].ticks -= (1 - left) * part.ticks;
    part.ticks *= left;
  }
}

void FunctionClock::finish() {
  if (!gaps_) return;
  if (places_) places_->gap_kinds(timeline_, gaps_->shares());
  if (times_) gaps_->resolve(*times_);
  if (totals_) *totals_ = gaps_->tree();
}

}  // namespace rubato
