#include "tools/replay_notices.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "models/cost/platform_file.h"
#include "tools/install_paths.h"
#include "tools/numbers.h"
#include "tools/standard_streams.h"

namespace rubato {

void warn_of_platforms(const std::vector<Scenario>& scenarios) {
  std::set<std::string> files;
  for (const Scenario& scenario : scenarios) {
    const std::string& file = scenario.platform_file;
    if (file.empty() || file.starts_with(platforms_dir() + "/") || !files.insert(file).second)
      continue;
    for (const std::string& line : load_platform_warnings(file))
      print_to_stderr("rubato: warning: " + line);
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
  if (!isatty(STDERR_FILENO)) return {};
  using Clock = std::chrono::steady_clock;
  return [word, begin = Clock::now(), shown = -1](double share) mutable {
    const int percent = static_cast<int>(100 * share);
    if (percent == shown) return;
    shown = percent;
    const std::chrono::duration<double> passed = Clock::now() - begin;
    show_progress(share >= 1 ? "" : progress_text(word, share, passed.count()));
  };
}

}  // namespace rubato
