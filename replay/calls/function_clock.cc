#include "replay/calls/function_clock.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace rubato {
namespace {

/// Adds to the part with the same key, or as another part, if there are fewer than `most`; else
/// false.
template <typename Part, typename Key>
bool add_to(std::vector<Part>& parts, const Part& more, Key key, size_t most) {
  const auto same = std::find_if(parts.rbegin(), parts.rend(), [&](const Part& part) {
    return std::invoke(key, part) == std::invoke(key, more);
  });
  if (same == parts.rend()) {
    if (parts.size() >= most) return false;
    parts.push_back(more);
    return true;
  }
  same->ticks += more.ticks;
  same->probes += more.probes;
  return true;
}

}  // namespace

// The time of an enter or leave is read first: what recording costs is time of the function that
// runs after it.
void FunctionClock::take_time(double time) {
  const double ticks = stopped_ == 0 ? std::max(0.0, time - since_) : 0;
  const uint32_t probes = std::exchange(probes_, 0);
  since_ = time;
  if (open_.empty() || (ticks == 0 && probes == 0)) return;
  if (counts_) {
    // lose() takes a part of the ticks back.
    paths_[open_.back().node].ticks += ticks;
    paths_[open_.back().node].probes += probes;
    add_to(node_parts_, {open_.back().node, ticks, probes}, &FunctionPart::function, kMostParts);
  }
  if (places_) {
    const FunctionPart part{open_.back().function.number, ticks, probes, open_.back().node};
    if (!add_to(parts_, part, &FunctionPart::path, kMostParts))
      add_to(parts_, part, &FunctionPart::function, kMostParts);  // on another path
  }
  uint64_t functions = 0;
  for (const Open& open : open_) functions |= open.function.chosen;
  if (functions != 0)
    add_to(gap_, {0, functions, ticks, probes}, &FunctionTime::functions, SIZE_MAX);
}

void FunctionClock::enter_function(Function function, double time) {
  if (matters(function)) {
    take_time(time);
    uint32_t node = CallTree::kRoot;
    if (counts_ || places_)
      node = paths_.call(open_.empty() ? node : open_.back().node, function.number);
    if (counts_ && stopped_ == 0) ++paths_[node].calls;
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
  if (!counts_) return;
  paths_.clear();
  for (const Open& open : open_) ++paths_[open.node].calls;
}

void FunctionClock::end_window() {
  counts_ = false;
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
    const uint32_t kind =
        call == kNoPlace ? gaps_->end_piece(ticks) : gaps_->end_gap(site, call, ticks);
    if (ticks > 0) parts_.push_back({kFirstGapKind + kind, ticks});
    if (ticks > 0) gap_.push_back({0, kind, ticks});
  }
  if (places_) {
    const uint32_t function = open_.empty() ? caller : open_.back().function.number;
    places_->add(timeline_, event, function, site, parts_,
                 open_.empty() ? CallTree::kRoot : open_.back().node);
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
  for (FunctionPart& part : node_parts_) {
    if (counts_) paths_[part.function].ticks -= (1 - left) * part.ticks;
    part.ticks *= left;
  }
}

void FunctionClock::finish() {
  if (!gaps_) {
    if (totals_) *totals_ = paths_;
    if (places_) places_->add_paths(timeline_, std::move(paths_), {});
    return;
  }
  gaps_->settle();
  if (places_) places_->add_paths(timeline_, gaps_->paths(), gaps_->shares());
  if (times_) gaps_->resolve(*times_);
  if (totals_) *totals_ = gaps_->tree();
}

}  // namespace rubato
