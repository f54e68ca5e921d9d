#include "replay/trace/function_times.h"

#include <algorithm>

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
  return name + " (" + file.substr(file.find_last_of('/') + 1) +
         (line > 0 ? ':' + std::to_string(line) : "") + ")";
}

bool is_function(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(0, name.find('(')) == wanted;
}

}  // namespace rubato
