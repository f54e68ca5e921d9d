#include "tools/replay_notices.h"

#include <fmt/core.h>
#include <unistd.h>

#include <set>

#include "models/cost/platform_file.h"
#include "tools/install_paths.h"
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

std::function<void(double)> progress_line(const std::string& word) {
  if (!isatty(STDERR_FILENO)) return {};
  return [word, shown = -1](double share) mutable {
    const int percent = static_cast<int>(100 * share);
    if (percent == shown) return;
    shown = percent;
    show_progress(share >= 1 ? "" : fmt::format("{}: {:3} %", word, percent));
  };
}

}  // namespace rubato
