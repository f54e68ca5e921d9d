#include "tracer/session/traced_ranks.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "tracer/base/default_floating_point.h"
#include "tracer/base/launcher.h"
#include "tracer/base/settings.h"
#include "tracer/base/warnings.h"
#include "tracer/record/recorder.h"
#include "tracer/session/job.h"
#include "tracer/session/roll_call.h"

namespace rubato {
inline namespace tracing {
namespace {

RollCall* roll_call = nullptr;  ///< null before announce_rank()

/// Calls go straight to the MPI library from now on.
void run_untraced() {
  pass_everything();
  stage.finished = true;
}

void report_other_library() {
  if (launcher_rank() != 0) return;
  if (const char* missing = missing_handle()) {
    say_outcome(std::string("nothing is recorded: this ") + library::kName + " has no " + missing +
                ", so it is of a version that the tracer does not know");
    return;
  }
  say_outcome(std::string("nothing is recorded: the program loaded another MPI library than ") +
              library::kName + ", which the tracer was chosen for; launch it with the mpirun of " +
              library::kOtherName);
}

}  // namespace

void announce_rank() {
  if (roll_call != nullptr) return;
  const DefaultFloatingPoint environment;
  const std::string output = output_directory();
  RollCall::Places places;
  places.job = launched_as();
  // A batch job may run several MPI jobs at once.
  if (places.job == "-" || places.job.rfind("PBS_", 0) == 0) places.job += " " + output;
  const char* temporary = std::getenv("TMPDIR");
  places.node = {"/dev/shm", temporary != nullptr && *temporary != '\0' ? temporary : "/tmp"};
  const size_t slash = output.rfind('/');
  places.shared = slash == std::string::npos ? "." : output.substr(0, slash);
  roll_call = new RollCall(places);
}

bool has_known_library() {
  if (load_handles()) return true;
  delete std::exchange(roll_call, nullptr);  // withdraws the announcement
  run_untraced();
  report_other_library();
  return false;
}

bool every_rank_is_traced() {
  constexpr double kMostSeconds = 10;  // seconds; file systems over a network take some
  int rank = 0, size = 1;
  PMPI(Comm_rank)(handles.world, &rank);
  PMPI(Comm_size)(handles.world, &size);
  const RollCall::Answer answer = roll_call->answer(rank, size, kMostSeconds);
  if (answer.all) return true;
  Recorder::stop();
  stage.recording = false;  // one of MPI's sessions
  run_untraced();
  outcome_is_said();
  if (answer.speaker) warn(untraced_ranks(answer, size));
  return false;
}

}  // namespace tracing
}  // namespace rubato
