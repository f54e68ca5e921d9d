#include <unistd.h>

#include <exception>
#include <mutex>

#include "tracer/base/default_floating_point.h"
#include "tracer/base/warnings.h"
#include "tracer/layout/journal.h"
#include "tracer/objects/communicators.h"
#include "tracer/record/recorder.h"
#include "tracer/session/run_clock.h"
#include "tracer/session/start.h"
#include "tracer/session/traced_ranks.h"

namespace rubato {
inline namespace tracing {
namespace {

/// How many of MPI's sessions the program has open, and the process that opened the first: children
/// of fork() have the rest of this too.
std::mutex sessions_mutex;
int open_sessions = 0;
int sessions_pid = 0;

}  // namespace

#if MPI_VERSION >= 4
namespace {

/// The processes of the job, from a session of our own that is open as long as the program has any:
/// groups of a session may become invalid when the program closes it.
struct JobGroup {
  MPI_Session mpi;
  MPI_Group group;
  bool open = false;
};
JobGroup job_group;

bool open_job_group() {
  if (PMPI(Session_init)(handles.info_null, handles.errors_return, &job_group.mpi) != MPI_SUCCESS) {
    return false;
  }
  if (PMPI(Group_from_session_pset)(job_group.mpi, "mpi://WORLD", &job_group.group) ==
      MPI_SUCCESS) {
    job_group.open = true;
    return true;
  }
  PMPI(Session_finalize)(&job_group.mpi);
  return false;
}

void close_job_group() {
  if (!job_group.open) return;
  job_group.open = false;
  PMPI(Group_free)(&job_group.group);
  PMPI(Session_finalize)(&job_group.mpi);
}

/// Starts recording without communication.
void start_alone(const InitStamp& stamp, MPI_Group everybody) {
  Job& job = make_job();
  PMPI(Group_rank)(everybody, &job.rank);
  PMPI(Group_size)(everybody, &job.size);
  if (!job.space.make_alone(job.rank, job.size, job.settings, job.host)) return;
  Clock::choose(run_clock::wants_tsc(job.settings));
  // Any session may allow concurrent calls of threads.
  begin_records(job, stamp, true, &everybody);
}

/// This process records, and MPI_Init was not called.
bool records_alone() {
  return stage.recording && !this_job()->has_world;
}

/// There is a session of the program again.
void open_again() {
  if (!open_job_group()) return;
  communicators::use_world_group(job_group.group);
  journal::sessions(true);
}

/// The first session of the program. False if nothing is recorded.
bool start_with_session(const InitStamp& stamp) {
  // On failure `started` stays false: MPI_Init may follow, and the other ranks expect this one to
  // start recording then.
  if (!has_known_library()) {
    stage.started = true;
    return false;
  }
  if (!open_job_group()) return false;
  stage.started = true;
  sessions_pid = getpid();
  try {
    start_alone(stamp, job_group.group);
  } catch (const std::exception& error) {
    Recorder::stop();
    say_outcome(std::string("recording could not start: ") + error.what());
    return false;
  }
  if (stage.recording) journal::sessions(true);
  return true;
}

/// The ranks started without communication, and may have chosen different clocks and settings.
/// False if they cannot record together. Collective.
bool ranks_agree(const Job& job) {
  const bool tsc = stage.recording && Clock::uses_tsc();
  const bool other = stage.recording && !Clock::uses_tsc();
  return !(any_rank(job.comm, !stage.recording) ||
           (any_rank(job.comm, tsc) && any_rank(job.comm, other)) ||
           (any_rank(job.comm, job.settings.archive) && any_rank(job.comm, !job.settings.archive)));
}

}  // namespace

void join_world(CallId init, const InitStamp& stamp) {
  if (this_job() == nullptr) {
    MPI_Group everybody;
    PMPI(Comm_group)(handles.world, &everybody);
    start_alone(stamp, everybody);
  }
  Job& job = *this_job();
  job.has_world = true;
  PMPI(Comm_dup)(handles.world, &job.comm);
  job.settings.summary = any_rank(job.comm, job.settings.summary);
  if (!ranks_agree(job)) {
    Recorder::stop();
    stage.recording = false;
    return;
  }
  communicators::know_world();
  journal::sessions(true);  // only MPI_Finalize ends this job properly
  run_clock::compare_first(job);
  record_init_call(init, stamp);
  begin_options(job.settings);
}

void mpi_session_opened(CallId init, const InitStamp& stamp) {
  const DefaultFloatingPoint environment;
  const std::lock_guard lock(sessions_mutex);
  const bool first = open_sessions++ == 0;
  if (stage.finished) return;
  if (!stage.started) {
    if (!start_with_session(stamp)) return;
  } else if (first && records_alone()) {
    open_again();
  }
  if (!stage.recording) return;
  if (ThreadLog* log = begin_call(stamp.call_site)) {
    Call call(log, init, run_clock::ticks_of(stamp));
    call.leave();
  }
  begin_options(this_job()->settings);
}

void mpi_session_closing() {
  const std::lock_guard lock(sessions_mutex);
  // MPI ends with the last of its sessions; ours must not be that.
  if (open_sessions == 1) close_job_group();
}

void mpi_session_closed(bool good) {
  const std::lock_guard lock(sessions_mutex);
  if (good && --open_sessions == 0 && records_alone()) journal::sessions(false);
  if (!good && open_sessions == 1 && records_alone()) open_again();
}
#else
void mpi_session_opened(CallId, const InitStamp&) {}
void mpi_session_closing() {}
void mpi_session_closed(bool) {}
#endif

std::string sessions_report() {
  if (!stage.recording || this_job()->has_world || this_job()->rank != 0 || open_sessions > 0 ||
      sessions_pid != getpid()) {
    return "";
  }
  return how_to_recover("this program has MPI sessions and no MPI_Finalize");
}

}  // namespace tracing
}  // namespace rubato
