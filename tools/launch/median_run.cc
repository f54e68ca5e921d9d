#include "tools/launch/median_run.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <vector>

#include "models/base/error.h"
#include "replay/rubato.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/run_times.h"
#include "tools/files/whole_file.h"
#include "tracer/base/output_name.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

/// The exit code of a process, as a shell gives it.
int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The offset of standard input; -1 of a terminal, or if it is closed. Errors: InputError for a
/// pipe or a socket.
off_t offset_of_input() {
  const off_t offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
  struct stat status;
  if (offset < 0 && fstat(STDIN_FILENO, &status) == 0 && !isatty(STDIN_FILENO))
    throw InputError(
        "--runs: only the first run could read standard input, because it is a pipe: redirect it "
        "from a file or from /dev/null; nothing was started");
  return offset;
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
  const off_t input = offset_of_input();
  std::multimap<double, std::string> by_time;
  std::vector<double> times;
  for (const std::string& archive : archives) {
    // (All runs share the offset.)
    if (input >= 0) lseek(STDIN_FILENO, input, SEEK_SET);
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
    times.push_back(elapsed);
  }
  const std::string median = std::next(by_time.begin(), (runs - 1) / 2)->second;
  WholeFile file((fs::path(median) / kRunTimesFile).string());
  file.write(fmt::format("{}\n", fmt::join(times, "\n")));
  file.commit();
  const std::string kept = free_output(output);
  fs::rename(median, kept);
  for (const std::string& archive : archives) fs::remove_all(archive);
  print_to_stderr(fmt::format("rubato: kept {}, the median of {}", kept, show_runs(times)));
  return 0;
}

}  // namespace rubato
