// A rank may be killed (SIGKILL) at any moment because another one aborts the job, also while it
// prints why. The watcher of the job (tools/launch/trace_watch.h) prints the line as well, unless a
// mark tells that it was printed: a rank killed between line and mark would leave two lines.
// Therefore a process that the launcher does not know claims, prints and marks the line. It runs in
// the rank's memory, as posix_spawn's does, and the rank waits.

#include "tracer/session/aborts.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "tracer/archive/archive_files.h"
#include "tracer/base/launcher.h"
#include "tracer/base/report_line.h"
#include "tracer/base/warnings.h"
#include "tracer/record/recorder.h"
#include "tracer/session/session.h"

namespace rubato {
inline namespace tracing {
namespace {

/// The line about a call of MPI_Abort, printed by one rank of the job.
class AbortLine {
 public:
  /// Call it at the start. `line` has its newline; `claim` is the file by which one rank claims the
  /// line, empty without an archive: then only the first rank prints it.
  void prepare(std::string line, std::string claim, bool is_first_rank);
  /// The program is about to die by MPI_Abort, maybe in a signal handler.
  void say();
  /// This rank printed the line, or leaves it to another one, or another one printed it.
  bool is_said() const;

 private:
  void say_here();

  std::string line_, claim_;
  bool is_first_rank_ = false;
  int file_ = 2;  // standard error
  std::atomic<bool> said_{false};
};

void AbortLine::prepare(std::string line, std::string claim, bool is_first_rank) {
  line_ = std::move(line);
  claim_ = std::move(claim);
  is_first_rank_ = is_first_rank;
  // A high number, which programs that count their files do not use.
  if (const int launcher = hydra_stderr(); launcher >= 0) {
    file_ = fcntl(launcher, F_DUPFD_CLOEXEC, 100);
    close(launcher);
    if (file_ < 0) file_ = STDERR_FILENO;
  }
}

void AbortLine::say() {
  if (said_.exchange(true)) return;
  alignas(16) static char stack[32 * 1024];
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int child = clone(
      [](void* self) {
        setsid();
        static_cast<AbortLine*>(self)->say_here();
        _exit(0);
        return 0;
      },
      stack + sizeof stack, CLONE_VM | CLONE_VFORK, this);
  if (child < 0) say_here();
  if (child > 0) waitpid(child, nullptr, __WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Without an archive the ranks have no place to agree on one of them. If another rank than the
/// first aborts the job, the watcher of `rubato trace` prints that there is no summary.
void AbortLine::say_here() {
  bool mine = is_first_rank_;
  int made = -1;
  if (!claim_.empty()) {
    made = open(claim_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (made >= 0 || errno == EEXIST) mine = made >= 0;
  }
  // (Before it is printed: another rank's MPI_Abort may end this process after the line.)
  if (mine) outcome_is_said();
  const bool printed = mine && write(file_, line_.data(), line_.size()) >= 0;
  if (printed && made >= 0) {
    [[maybe_unused]] const ssize_t marked = write(made, "x", 1);
  }
  if (made >= 0) close(made);
}

bool AbortLine::is_said() const {
  return said_ || (!claim_.empty() && access(claim_.c_str(), F_OK) == 0);
}

AbortLine abort_line;

}  // namespace

void prepare_abort(const Job& job) {
  abort_line.prepare("rubato: " + how_to_recover("the program called MPI_Abort") + "\n",
                     job.settings.archive ? job.settings.output + "/" + kAborted : "",
                     job.rank == 0);
}

void abort_session() {
  if (!session_started() || session_finished()) return;
  Recorder::stop();
  abort_line.say();
}

bool abort_is_said() {
  return abort_line.is_said();
}

std::string how_to_recover(const std::string& what) {
  const Settings& settings = this_job()->settings;
  if (!settings.archive) return "no summary: " + what;
  return what + "; to make a trace of what was recorded: rubato recover " +
         shell_word(settings.output);
}

}  // namespace tracing
}  // namespace rubato
