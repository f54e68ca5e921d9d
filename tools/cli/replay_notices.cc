#include "tools/cli/replay_notices.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "models/base/shell_quoted.h"
#include "models/platform/platform_file.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/standard_streams.h"
#include "tools/format/numbers.h"

namespace rubato {

std::string falls_line(const std::string& file, size_t places) {
  return fmt::format(
      "{}: longer messages take less time in {}, as measured beside other programs; calibrate "
      "again on idle nodes ('rubato check {}' lists the curves)",
      file, counted(places, "place", "places"), shell_quoted(file));
}

void warn_of_platforms(const std::vector<Scenario>& scenarios) {
  std::set<std::string> files;
  for (const Scenario& scenario : scenarios) {
    const std::string& file = scenario.platform_file;
    if (file.empty() || file.starts_with(platforms_dir() + "/") || !files.insert(file).second)
      continue;
    const std::vector<std::string> lines = load_platform_warnings(file);
    if (!lines.empty() && !scenario.platform.measured.empty()) {
      print_to_stderr("rubato: warning: " + falls_line(file, lines.size()));
      continue;
    }
    for (const std::string& line : lines) print_to_stderr("rubato: warning: " + line);
  }
}

std::string progress_text(const std::string& word, double share, double seconds) {
  const std::string text = fmt::format("{}: {:3} %", word, static_cast<int>(100 * share));
  if (seconds < 1 || share < 0.01) return text;
  const double left = seconds * (1 - share) / share;
  return fmt::format("{}, {:.2g} %/s, about {} left", text, 100 * share / seconds,
                     rough_time(left));
}

std::function<void(double)> progress_line(const std::string& word) {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const char* const asked = std::getenv("RUBATO_PROGRESS");
  if (!is_terminal && (!asked || std::string(asked) != "1")) return {};
  using Clock = std::chrono::steady_clock;
  const int step = is_terminal ? 1 : 10;  // percent
  return [word, is_terminal, step, begin = Clock::now(), shown = -1](double share) mutable {
    const int percent = static_cast<int>(100 * share);
    if (percent / step == shown) return;
    shown = percent / step;
    const std::chrono::duration<double> passed = Clock::now() - begin;
    const std::string text = progress_text(word, share, passed.count());
    if (is_terminal)
      show_progress(share >= 1 ? "" : text);
    else
      print_to_stderr("rubato: " + text);
  };
}

}  // namespace rubato
