#include "tools/files/run_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "models/base/error.h"
#include "tools/format/numbers.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

constexpr double kRounding = 1e-6;  ///< relative, of an elapsed time in that file

}  // namespace

RunTimes elapsed_of_runs(const std::string& archive, double elapsed) {
  const fs::path path(archive);
  std::error_code ignored;  // (several archives)
  const bool is_directory = fs::is_directory(path, ignored);
  if (!is_directory && path.extension() != ".otf2") return {};
  std::ifstream file((is_directory ? path : path.parent_path()) / kRunTimesFile);
  RunTimes runs;
  for (double seconds = 0; file >> seconds;) runs.seconds.push_back(seconds);
  if (!file.is_open()) return runs;
  if (!file.eof() || runs.seconds.empty() || std::ranges::min(runs.seconds) < 0)
    throw InputError(
        fmt::format("{} of {}: expected seconds, a line per run", kRunTimesFile, archive));
  const bool is_one = std::ranges::any_of(runs.seconds, [elapsed](double seconds) {
    return std::abs(seconds - elapsed) <= kRounding * elapsed;
  });
  if (is_one) return runs;
  return {{},
          fmt::format("{} is ignored: the archive's elapsed time is not in it.", kRunTimesFile)};
}

std::string show_runs(const std::vector<double>& elapsed) {
  return fmt::format("{} runs: {} to {}", elapsed.size(), show_seconds(std::ranges::min(elapsed)),
                     show_seconds(std::ranges::max(elapsed)));
}

}  // namespace rubato
