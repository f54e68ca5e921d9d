#include "tools/launch/median_run.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "models/base/error.h"
#include "replay/rubato.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/whole_file.h"
#include "tools/format/numbers.h"
#include "tracer/base/output_name.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

constexpr const char* kFile = "rubato-runs.txt";

/// The exit code of a process, as a shell gives it.
int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<int> keep_median_run(int runs, std::string& output) {
  const fs::path whole(output);
  const std::string stem = fs::path(whole).replace_extension().string();
  std::vector<std::string> archives;
  for (int run = 1; run <= runs; ++run)
    archives.push_back(fmt::format("{}.run{}{}", stem, run, whole.extension().string()));
  for (const std::string& archive : archives) {
    if (is_taken(archive))
      throw InputError(fmt::format("{} exists: remove it; nothing was started", archive));
  }
  std::multimap<double, std::string> by_time;
  std::string times;
  for (const std::string& archive : archives) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      output = archive;
      return {};
    }
    const int code = child < 0 ? 1 : exit_code_of(child);
    if (code != 0) {
      print_to_stderr(fmt::format("rubato: {} failed with {}: no median", archive, code));
      return code;
    }
    const double elapsed = summarize_archive(archive, {}).elapsed;
    by_time.emplace(elapsed, archive);
    times += fmt::format("{}\n", elapsed);
  }
  const std::string median = std::next(by_time.begin(), (runs - 1) / 2)->second;
  WholeFile file((fs::path(median) / kFile).string());
  file.write(times);
  file.commit();
  const std::string kept = free_output(output);
  fs::rename(median, kept);
  for (const std::string& archive : archives) fs::remove_all(archive);
  print_to_stderr(
      fmt::format("rubato: kept {}, the median of {}", kept, show_runs(elapsed_of_runs(kept))));
  return 0;
}

std::vector<double> elapsed_of_runs(const std::string& archive) {
  const fs::path path(archive);
  std::error_code ignored;  // (several archives)
  std::ifstream file((fs::is_directory(path, ignored) ? path : path.parent_path()) / kFile);
  std::vector<double> times;
  for (double seconds = 0; file >> seconds;) times.push_back(seconds);
  if (file.is_open() && (!file.eof() || times.empty() || std::ranges::min(times) <= 0))
    throw InputError(fmt::format("{} of {}: expected seconds, a line per run", kFile, archive));
  return times;
}

std::string show_runs(const std::vector<double>& elapsed) {
  return fmt::format("{} runs: {} to {}", elapsed.size(), show_seconds(std::ranges::min(elapsed)),
                     show_seconds(std::ranges::max(elapsed)));
}

}  // namespace rubato
