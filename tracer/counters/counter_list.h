#pragma once

#include <string>
#include <vector>

namespace rubato {
inline namespace tracing {

/// The names in "A,B,C".
std::vector<std::string> counter_names(const std::string& list);

/// How an archive describes a counter.
struct CounterInfo {
  std::string name;
  std::string unit;
  std::string description;
  bool by_papi;
};
CounterInfo counter_info(const std::string& name);

/// Why this machine cannot count `list` in this process.
struct CounterTrouble {
  enum class Kind { kFine, kList, kMachine };
  Kind kind = Kind::kFine;  ///< kList: the list is wrong on any machine
  std::string text;         ///< one line
};
CounterTrouble try_counters(const std::string& list);

}  // namespace tracing
}  // namespace rubato
