#include "tracer/base/report_line.h"

#include <iterator>

#include "models/base/number_text.h"

namespace rubato {
inline namespace tracing {
namespace {

std::string size_text(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fixed_text(value, unit > 0 && value < 9.95 ? 1 : 0) + " " + units[unit];
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string in_thousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string seconds_text(double seconds) {
  return (seconds < 1000 ? general_text(seconds, 3) : fixed_text(seconds, 0)) + " s";
}

std::string seen_from(const std::string& directory, std::string path) {
  if (!directory.empty() && path.rfind(directory + "/", 0) == 0)
    path.erase(0, directory.size() + 1);
  return path;
}

std::string report_line(const RunReport& report, const std::string& directory) {
  const std::string name = shell_word(seen_from(directory, report.archive));
  std::string line = report.early.empty() ? "" : "the trace stops early: " + report.early + "; ";
  line += "wrote " + name + " (" + in_thousands(static_cast<uint64_t>(report.ranks)) +
          (report.ranks == 1 ? " rank, " : " ranks, ") + seconds_text(report.seconds) + ", " +
          in_thousands(report.calls) + " MPI calls, " + size_text(report.bytes) + ")";
  return line + "; next: rubato replay " + name;
}

}  // namespace tracing
}  // namespace rubato
