#include "tracer/code/function_filter.h"

#include <sstream>

namespace rubato {
inline namespace tracing {
namespace {

enum class Kind { kNothing, kInclude, kExclude, kBad };

/// A line is a word and, up to its end, a pattern: names of C++ functions hold blanks.
Kind parse(const std::string& line, std::string& pattern) {
  constexpr char kBlank[] = " \t\r";
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string::npos || line[begin] == '#') return Kind::kNothing;
  const size_t end = line.find_first_of(kBlank, begin);
  const size_t from = line.find_first_not_of(kBlank, end);
  const std::string word = line.substr(begin, end - begin);
  if (end == std::string::npos || from == std::string::npos) return Kind::kBad;
  pattern = line.substr(from, line.find_last_not_of(kBlank) + 1 - from);
  if (word == "include") return Kind::kInclude;
  return word == "exclude" ? Kind::kExclude : Kind::kBad;
}

}  // namespace

FunctionFilter::FunctionFilter(const std::string& text) {
  std::istringstream lines(text);
  std::string line, pattern;
  while (std::getline(lines, line)) {
    const Kind kind = parse(line, pattern);
    if (kind == Kind::kInclude || kind == Kind::kExclude) {
      rules_.push_back({kind == Kind::kInclude, pattern});
    }
  }
}

bool FunctionFilter::includes(std::string_view name) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (matches(rule->pattern, name)) return rule->include;
  }
  return true;
}

bool FunctionFilter::matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = std::string_view::npos, after_star = 0;  // where to go on when a try fails
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

int FunctionFilter::bad_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line, pattern;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (parse(line, pattern) == Kind::kBad) return number;
  }
  return 0;
}

}  // namespace tracing
}  // namespace rubato
