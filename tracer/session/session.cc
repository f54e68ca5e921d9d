#include "tracer/session/session.h"

#include <exception>
#include <string>

#include "tracer/base/clock.h"
#include "tracer/base/default_floating_point.h"
#include "tracer/base/warnings.h"
#include "tracer/record/recorder.h"
#include "tracer/session/finish.h"
#include "tracer/session/job.h"
#include "tracer/session/start.h"
#include "tracer/session/traced_ranks.h"

namespace rubato {
inline namespace tracing {

InitStamp before_init(const void* call_site) {
  return {Clock::counter(), Clock::monotonic(), call_site};
}

void start_session(CallId init, const InitStamp& stamp) {
  const DefaultFloatingPoint environment;
  const Job* const job = this_job();
  if (stage.started && (job == nullptr || job->has_world || stage.finished)) return;
  stage.started = true;
  if (!has_known_library()) return;
  try {
    if (!every_rank_is_traced()) return;
#if MPI_VERSION >= 4
    if (any_rank(handles.world, job != nullptr)) {
      join_world(init, stamp);
      return;
    }
#endif
    start_with_world(init, stamp);
  } catch (const std::exception& error) {
    Recorder::stop();
    say_outcome(std::string("recording could not start: ") + error.what());
  }
}

void finish_session(CallId finalize, const void* call_site) {
  const DefaultFloatingPoint environment;
  if (this_job() == nullptr || stage.finished) return;
  stage.finished = true;
  if (!stage.recording) return;
  tell_finalize();
  try {
    finish_recording(*this_job(), finalize, call_site);
  } catch (const std::exception& error) {
    say_outcome(std::string("the trace could not be written: ") + error.what());
  }
}

bool session_started() {
  return stage.recording;
}

bool session_finished() {
  return stage.finished;
}

}  // namespace tracing
}  // namespace rubato
