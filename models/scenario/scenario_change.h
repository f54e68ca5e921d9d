#pragma once

// A change in the text of a scenario, for the parsers of its parts.

#include <charconv>
#include <string>
#include <vector>

#include "models/base/error.h"

namespace rubato {

/// "latency*0.5" taken apart.
struct Change {
  std::string key;
  char operation;  ///< '=', '*' or '/'
  std::string value;
};

/// The keys that a change may name, other than processors, for shells that complete them.
std::vector<std::string> scenario_keys();
/// The machines that need no file: "measured", "perfect", ...
std::vector<std::string> machine_names();

/// Refuses the text of a scenario. Throws: UsageError.
[[noreturn]] inline void refuse(const std::string& text, const std::string& why) {
  throw UsageError("scenario '" + text + "': " + why);
}

/// The whole of `text` as a number from 0 on; -1 if it is not one.
inline int parse_count(const std::string& text) {
  int count = -1;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, count);
  return result.ec == std::errc() && result.ptr == end ? count : -1;
}

}  // namespace rubato
