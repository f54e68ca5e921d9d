#include "replay/trace/function_times.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace rubato {

std::span<const FunctionTime> FunctionTimes::before(int timeline, uint64_t event) const {
  const std::vector<FunctionTime>& times = timelines_[timeline];
  const auto [first, last] = std::equal_range(
      times.begin(), times.end(), FunctionTime{event, 0, 0},
      [](const FunctionTime& a, const FunctionTime& b) { return a.event < b.event; });
  return {first, last};
}

std::string FunctionName::place() const {
  if (file.empty()) return name;
  std::ostringstream text;
  text << name << " (" << file.substr(file.find_last_of('/') + 1);
  if (line > 0) text << ':' << line;
  text << ')';
  return text.str();
}

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
  if (!tree_) return;
  tree_->clear();
  for (const Open& open : open_) ++(*tree_)[open.node].calls;
}

void FunctionClock::sample(std::span<const uint32_t> path, double ticks, bool is_all) {
  if (path.empty()) return;
  if (is_all && tree_) {
    uint32_t node = CallTree::kRoot;
    for (const uint32_t function : path) node = tree_->call(node, function);
    (*tree_)[node].ticks += ticks;
  }
  if (is_all && places_) sampled_.push_back({path.back(), ticks, 0});
  if (!samples_) return;
  SampleSum& own = (*samples_)[path.back()];
  own.exclusive += ticks;
  ++own.exclusive_samples;
  for (size_t i = 0; i < path.size(); ++i) {
    if (std::find(path.begin() + static_cast<std::ptrdiff_t>(i) + 1, path.end(), path[i]) !=
        path.end())
      continue;  // recursion
    SampleSum& sum = (*samples_)[path[i]];
    sum.inclusive += ticks;
    ++sum.inclusive_samples;
  }
}

void FunctionClock::stop(uint64_t event, double time, uint32_t site, uint32_t caller) {
  take_time(time);
  if (stopped_++ > 0) return;
  for (const FunctionPart& part : sampled_) add_part(part.function, part.ticks, 0);
  sampled_.clear();
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
}

void FunctionClock::lose(double ticks, double time) {
  take_time(time);
  if (time <= began_) return;
  const double left = std::max(0.0, 1 - ticks / (time - began_));
  for (FunctionTime& part : gap_) part.ticks *= left;
  for (FunctionPart& part : parts_) part.ticks *= left;
  for (NodePart& part : node_parts_) {
    if (tree_) (*tree_)[part.node].ticks -= (1 - left) * part.ticks;
    part.ticks *= left;
  }
}

bool is_function(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(0, name.find('(')) == wanted;
}

}  // namespace rubato
