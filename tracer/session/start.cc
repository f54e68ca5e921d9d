#include "tracer/session/start.h"

#include <pthread.h>

#include <algorithm>

#include "tracer/base/warnings.h"
#include "tracer/code/modules.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/layout/journal.h"
#include "tracer/objects/requests.h"
#include "tracer/record/call_paths.h"
#include "tracer/record/functions.h"
#include "tracer/record/recorder.h"
#include "tracer/record/sampler.h"
#include "tracer/record/threads.h"
#include "tracer/session/aborts.h"
#include "tracer/session/costs.h"
#include "tracer/session/run_clock.h"
#include "tracer/session/run_facts.h"
#include "tracer/session/sums_only.h"
#include "tracer/stack/frame_rules.h"

namespace rubato {
inline namespace tracing {
namespace {

bool options_begun = false;

/// Prepares the places in the code that calls and samples are to have. True if calls have places.
bool start_places(Settings& settings, bool is_first_rank) {
  const bool walks = settings.call_paths || settings.sample_period != 0;
  if (walks && !frame_rules_usable()) {
    settings.call_paths = false;
    settings.sample_period = 0;
    if (is_first_rank)
      warn("--call-paths and --sample need glibc 2.35 or newer; recording goes on without them");
  }
  const bool has_places = settings.call_sites || settings.call_paths;
  if (settings.functions || has_places || settings.sample_period != 0) {
    modules::start(wrapper_libraries());
  }
  if (settings.call_paths) CallPaths::record(true);
  if (settings.sample_period != 0) CallPaths::record(false);
  return has_places;
}

/// Restricts recording to the requested window.
void apply_window(const RunWindow& window) {
  const uint64_t now = Clock::now();
  const auto ticks = [&](double seconds) {
    // So far the counter's rate is known only to some percent.
    const double since = seconds * run_clock::approximate_rate();
    return since > 1e18 ? UINT64_MAX - 1 : now + static_cast<uint64_t>(since);
  };
  if (window.kind == RunWindow::Kind::kSeconds) {
    Recorder::set_window(ticks(window.begin), ticks(window.end), now);
  } else if (window.kind == RunWindow::Kind::kBarriers) {
    Recorder::set_barrier_window(static_cast<uint64_t>(window.begin),
                                 static_cast<uint64_t>(std::min(window.end, 1e18)), now);
  }
}

}  // namespace

void begin_records(Job& job, const InitStamp& stamp, bool threads, const MPI_Group* everybody) {
  if (job.space.segments.directory != nullptr) {
    journal::open(job.space.directory, job.space.segments.rank);
  }
  run_clock::begin(stamp);
  const uint64_t zero = run_clock::at_init().ticks - 1;  // so that no record begins at 0
  note_start_time();

  requests::start(threads);
  everybody == nullptr ? communicators::start() : communicators::start_without_world(*everybody);
  const bool has_places = start_places(job.settings, job.rank == 0);
  if (!job.settings.archive) keep_sums_only(job.settings);
  if (has_places) Recorder::record_call_sites();
  ArchiveInfo& info = archive_task().info;
  start_counters(job, info);
  Recorder::start(job.space.segments, zero);
  measure_costs(job, has_places, info.overhead);
  note_run_facts(job, zero);
  stage.recording = true;
  // A child of fork() is not a rank.
  pthread_atfork(nullptr, nullptr, [] { Recorder::stop(); });
  prepare_abort(job);
}

void begin_options(const Settings& settings) {
  if (options_begun) return;
  options_begun = true;
  threads::note_times();
  Recorder::record_stolen(run_clock::approximate_rate());
  apply_window(settings.window);
  if (settings.functions) functions::start(settings.function_filter);
  const ThreadLog* log = Recorder::on() ? Recorder::this_thread() : nullptr;
  if (log != nullptr && log->counters != nullptr) log->counters->restart();
  Sampler::start(settings.sample_period);
}

void record_init_call(CallId init, const InitStamp& stamp, const LateStart& late) {
  ThreadLog* log = begin_call(stamp.call_site);
  if (log == nullptr) return;
  if (log->counters != nullptr) log->counters->restart();  // nothing was counted before
  {
    Call call(log, init, run_clock::ticks_of(stamp));
    call.item(Item::kCommCreate, communicators::kWorld);
    call.item(Item::kCommCreate, communicators::kSelf);
    note_collective(call, OTF2_COLLECTIVE_OP_CREATE_HANDLE, communicators::kWorld,
                    OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    if (late.left == 0) {
      call.leave();
      return;
    }
    call.leave_at(late.left - late.stolen);
  }
  if (log->muted || !Recorder::has_space_for_stolen(*log)) return;
  const double nanoseconds = static_cast<double>(late.stolen) / run_clock::approximate_rate() * 1e9;
  Recorder::put_stolen(*log, late.left, static_cast<uint64_t>(nanoseconds), late.told);
}

void start_with_world(CallId init, const InitStamp& stamp) {
  Job& job = make_job();
  enter_world(job);
  if (!job.space.make(job.comm, job.settings, job.host)) return;
  Clock::choose(all_ranks(job.comm, run_clock::wants_tsc(job.settings)));
  // The environment may have given more than the program asked for.
  int provided_threads = MPI_THREAD_MULTIPLE;
  PMPI(Query_thread)(&provided_threads);
  begin_records(job, stamp, provided_threads == MPI_THREAD_MULTIPLE, nullptr);
  ThreadLog* const log = Recorder::on() ? Recorder::this_thread() : nullptr;
  run_clock::compare_first(job);
  // Ranks that share a clock with rank 0 had nothing to do; without the barrier they would start up
  // to a second before the others, and wait for them in the first message.
  const LateStart late =
      leave_barrier(job.comm, run_clock::sharers(), log, run_clock::approximate_rate());
  record_init_call(init, stamp, late);
  begin_options(job.settings);
}

}  // namespace tracing
}  // namespace rubato
