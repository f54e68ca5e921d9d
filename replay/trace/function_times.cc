#include "replay/trace/function_times.h"

#include <algorithm>
#include <sstream>

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

void FunctionClock::take_time(double time) {
  if (stopped_ == 0 && time > since_ && !open_.empty()) {
    if (totals_) total_of(open_.back().number) += time - since_;
    if (totals_ || places_) add_part(open_.back().number, time - since_);
    uint64_t functions = 0;
    for (const Function& function : open_) functions |= function.chosen;
    const auto same = std::find_if(gap_.begin(), gap_.end(), [&](const FunctionTime& part) {
      return part.functions == functions;
    });
    if (functions == 0) {
      // not needed
    } else if (same == gap_.end()) {
      gap_.push_back({0, functions, time - since_});
    } else {
      same->ticks += time - since_;
    }
  }
  since_ = time;
}

double& FunctionClock::total_of(uint32_t function) {
  if (function != last_function_ || !last_total_) last_total_ = &(*totals_)[function];
  last_function_ = function;
  return *last_total_;
}

void FunctionClock::add_part(uint32_t function, double ticks) {
  const auto same = std::find_if(parts_.rbegin(), parts_.rend(), [&](const FunctionPart& part) {
    return part.function == function;
  });
  if (same != parts_.rend())
    same->ticks += ticks;
  else if (parts_.size() < kMostParts)
    parts_.push_back({function, ticks});
}

void FunctionClock::enter_function(Function function, double time) {
  if (!matters(function)) return;
  take_time(time);
  open_.push_back(function);
}

void FunctionClock::leave_function(Function function, double time) {
  const auto found = std::find(open_.rbegin(), open_.rend(), function);
  if (!matters(function) || found == open_.rend()) return;  // its enter was not recorded
  take_time(time);
  open_.erase(std::next(found).base());
}

void FunctionClock::begin_window() {
  if (!totals_) return;
  for (auto& [function, ticks] : *totals_) ticks = 0;
}

void FunctionClock::stop(uint64_t event, double time, uint32_t site) {
  take_time(time);
  if (stopped_++ > 0) return;
  if (places_) {
    const uint32_t function = open_.empty() ? kNoPlace : open_.back().number;
    places_->add(timeline_, event, function, site, parts_);
  }
  parts_.clear();
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
  for (FunctionPart& part : parts_) {
    if (totals_) {
      double& total = total_of(part.function);
      total -= std::min(total, (1 - left) * part.ticks);
    }
    part.ticks *= left;
  }
}

bool is_function(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(0, name.find('(')) == wanted;
}

}  // namespace rubato
