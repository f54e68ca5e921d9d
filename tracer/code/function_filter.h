#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rubato {
inline namespace tracing {

/// Which functions become regions: lines `include PATTERN` and `exclude PATTERN`, with * for any
/// text and ? for one character. The last line that matches a name decides; where none does, the
/// function is included.
class FunctionFilter {
 public:
  FunctionFilter() = default;
  /// Lines that are neither a rule nor empty nor a comment (#) are left out.
  explicit FunctionFilter(const std::string& text);

  bool empty() const { return rules_.empty(); }
  bool includes(std::string_view name) const;

  /// True where `pattern` describes the whole name.
  static bool matches(std::string_view pattern, std::string_view name);

  /// The number of the first invalid line; 0: all are valid.
  static int bad_line(const std::string& text);

 private:
  struct Rule {
    bool include;
    std::string pattern;
  };
  std::vector<Rule> rules_;
};

}  // namespace tracing
}  // namespace rubato
