#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tracer/base/default_floating_point.h"
#include "tracer/base/file_limit.h"
#include "tracer/base/launcher.h"
#include "tracer/base/output_name.h"
#include "tracer/base/settings.h"
#include "tracer/base/warnings.h"
#include "tracer/mpi/pmpi.h"
#include "tracer/mpi/symbol_lookup.h"
#include "tracer/session/session.h"

/// What the preloaded library does before the program's main() and after its exit.
///
/// LD_PRELOAD reaches every process that a job starts: the shells of a script, their helpers, and
/// the MPI program. All but the last must not notice. The process that `rubato trace` became by
/// exec reports at its end, on rank 0 only, if neither it nor its children recorded.
///
/// A script may start a program of the other MPI than the one the launcher guessed. Before main()
/// such a program is executed again with the right tracer; nothing of it has run by then.
namespace rubato {
inline namespace tracing {
namespace {

/// Standard error of the process `rubato trace` became, kept because programs (those of GNU
/// coreutils) close theirs before they end.
int report_fd = -1;

/// The process that `rubato trace` started, not one of its children.
bool is_traced_process() {
  const char* pid = std::getenv("RUBATO_TRACE_PID");
  return pid != nullptr && std::atol(pid) == getpid();
}

/// A process that this one has started lives, has the same standard error, and may record: the
/// watcher waits for it.
bool has_heir() {
  const char* watch = std::getenv("RUBATO_TRACE_WATCH");
  return watch != nullptr && other_process_has(std::string("RUBATO_TRACE_WATCH=") + watch,
                                               file_behind("self", std::to_string(report_fd)));
}

/// Executes the program again with the tracer of its MPI library. Returns if that cannot be done.
void change_tracer(char** argv) {
  const char* now = std::getenv("LD_PRELOAD");
  if (now == nullptr) return;
  std::string list = now;
  const size_t place = list.find(library::kTracer);
  if (place == std::string::npos) return;
  list.replace(place, std::strlen(library::kTracer), library::kOtherTracer);
  const size_t begin = list.find_last_of(": ", place);
  const size_t from = begin == std::string::npos ? 0 : begin + 1;
  const std::string other = list.substr(from, list.find_first_of(": ", place) - from);
  if (access(other.c_str(), R_OK) != 0) {
    say_outcome("this program's MPI library has no tracer here; nothing is recorded");
    return;
  }
  setenv("LD_PRELOAD", list.c_str(), 1);
  // If the loader was the command, argv lacks its words.
  std::vector<std::string> words = words_of_process("self");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", words.empty() ? argv : pointers.data());
}

__attribute__((constructor)) void loaded(int, char** argv, char**) {
  if (real_dlsym(RTLD_DEFAULT, library::kOtherSymbol) != nullptr) change_tracer(argv);
  find_wrapper_libraries();
  if (is_traced_process() && launcher_rank() == 0)
    report_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
}

__attribute__((destructor)) void unloaded() {
  const DefaultFloatingPoint environment;
  const std::string sessions = sessions_report();
  if (!sessions.empty()) {
    say_outcome(sessions);
    return;
  }
  if (report_fd < 0 || session_finished() || abort_is_said() || !is_traced_process()) return;
  const Settings settings = Settings::from_environment();
  std::string line;
  const char* expected = std::getenv("RUBATO_TRACE_EXPECTED");
  if (session_started()) {
    line = "rubato: " + how_to_recover("the program ended without MPI_Finalize") + "\n";
  } else if (settings.archive && !is_taken(expected != nullptr ? expected : settings.output) &&
             !has_heir()) {
    line = "rubato: nothing was recorded: no call of MPI_Init reached the tracer\n";
  }
  if (line.empty()) return;
  outcome_is_said();
  const NoFileSizeSignal quiet;
  [[maybe_unused]] const ssize_t written = write(report_fd, line.data(), line.size());
}

}  // namespace
}  // namespace tracing
}  // namespace rubato
