#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace rubato {

/// The user's input is bad: an archive, a platform file, the environment. The message is one line:
/// what is wrong, where (file, location, event or line), what to do. The command prints it and
/// exits with 1. Bugs are asserts instead, or std::logic_error if continuing would give wrong
/// numbers.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~InputError() override;  ///< in error.cc: one type for all, also for code with its own copies
};

/// The command line is bad (an unknown option, a scenario that does not parse). The command prints
/// it and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~UsageError() override;
};

/// The candidate nearest to `word` by edit distance; "" if none is near enough for a typo.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// "'a', 'b', 'c'", for lists of valid words.
std::string quoted_list(const std::vector<std::string>& words);

/// " (did you mean 'latency'?)" with all candidates that begin with `word`, if that has three
/// letters or more, else with the nearest one; "" if there is none.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace rubato
