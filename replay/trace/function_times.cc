#include "replay/trace/function_times.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace rubato {

std::span<const FunctionTime> FunctionTimes::before(int timeline, uint64_t event) const {
  const std::vector<FunctionTime>& times = timelines_[timeline];
  const auto [first, last] = std::equal_range(
      times.begin(), times.end(), FunctionTime{event, 0, 0},
      [](const FunctionTime& a, const FunctionTime& b) { return a.event < b.event; });
  return {first, last};
}

void FunctionClock::take_time(double time) {
  const uint64_t functions =
      std::accumulate(open_.begin(), open_.end(), uint64_t{0}, std::bit_or<>());
  if (stopped_ == 0 && functions != 0 && time > since_) {
    const auto same = std::find_if(gap_.begin(), gap_.end(), [&](const FunctionTime& part) {
      return part.functions == functions;
    });
    if (same == gap_.end())
      gap_.push_back({0, functions, time - since_});
    else
      same->ticks += time - since_;
  }
  since_ = time;
}

void FunctionClock::enter_function(uint64_t functions, double time) {
  if (functions == 0) return;
  take_time(time);
  open_.push_back(functions);
}

void FunctionClock::leave_function(uint64_t functions, double time) {
  const auto found = std::find(open_.rbegin(), open_.rend(), functions);
  if (functions == 0 || found == open_.rend()) return;  // its enter is not on record
  take_time(time);
  open_.erase(std::next(found).base());
}

void FunctionClock::stop(uint64_t event, double time) {
  take_time(time);
  if (stopped_++ > 0) return;
  for (FunctionTime& part : gap_) {
    part.event = event;
    times_->push_back(part);
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
}

bool is_function(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(0, name.find('(')) == wanted;
}

}  // namespace rubato
