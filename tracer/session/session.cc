#include "tracer/session/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "tracer/archive/archive_files.h"
#include "tracer/archive/archive_writer.h"
#include "tracer/code/function_probe.h"
#include "tracer/code/functions.h"
#include "tracer/code/modules.h"
#include "tracer/code/own_times.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/objects/requests.h"
#include "tracer/record/journal.h"
#include "tracer/record/last_words.h"
#include "tracer/record/record_space.h"
#include "tracer/record/threads.h"
#include "tracer/report/run_report.h"
#include "tracer/session/late_start.h"
#include "tracer/session/launcher.h"
#include "tracer/session/report_line.h"
#include "tracer/session/roll_call.h"
#include "tracer/session/settings.h"
#include "tracer/stack/call_paths.h"
#include "tracer/stack/sampler.h"
#include "tracer/timing/clock_sync.h"
#include "tracer/timing/overhead.h"
#include "tracer/timing/overhead_in_place.h"
#include "tracer/timing/periodic_sync.h"

namespace rubato {
inline namespace tracing {
namespace {

/// State from MPI_Init to MPI_Finalize.
struct Session {
  Settings settings;
  bool has_world = false;  ///< MPI_Init was called
  MPI_Comm comm;           ///< a copy of MPI_COMM_WORLD for the tracer's own messages, if so
  int rank = 0;
  int size = 1;
  std::string host;
  RecordSpace space;
  ClockSync clocks;
  ClockPair init_pair;     ///< when MPI_Init was entered
  ClockPair first_pair;    ///< when it was left
  uint64_t end_ticks = 0;  ///< when the last call was
  ArchiveTask task;
  bool options_begun = false;   ///< window and functions, see begin_options()
  bool recording = false;       ///< from MPI_Init on; not where there was no place for the archive
  RunTables* tables = nullptr;  ///< of a report without an archive
};

/// Limit of the first and of the last comparison of the clocks, on which all times in between
/// depend; on busy cores they may take this long.
constexpr double kMeasureSeconds = 1;

Session* session = nullptr;
bool started = false;
bool finished = false;

/// Prepared at the start to report MPI_Abort, since a signal handler may not allocate.
LastWords last_words;

/// How many of MPI's sessions the program has open, and the process that opened the first: children
/// of fork() have the rest of this too.
std::mutex sessions_mutex;
int open_sessions = 0;
int sessions_pid = 0;

uint64_t realtime() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// True if `mine` is true on all ranks.
bool all_ranks(MPI_Comm comm, bool mine) {
  int64_t local = mine, all = 0;
  PMPI(Allreduce)(&local, &all, 1, handles.int64, handles.min, comm);
  return all != 0;
}

bool any_rank(MPI_Comm comm, bool mine) {
  return !all_ranks(comm, !mine);
}

std::string library_version() {
  using GetVersion = int (*)(char*, int*);
  const auto get = reinterpret_cast<GetVersion>(mpi_function("PMPI_Get_library_version"));
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  if (get != nullptr) get(text, &length);
  std::string line(text);
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Writes all facts needed to read the records to the journal, and keeps them for the archive.
void note_facts(uint64_t zero) {
  ArchiveInfo& info = session->task.info;
  info.command = command_line();
  info.mpi_library = library_version();
  for (const CallInfo& call : kCalls) {
    info.call_names.push_back(call.name);
    info.call_roles.push_back(call.role);
  }
  ProcessFacts facts;
  facts.job = session->space.job;
  facts.rank = session->rank;
  facts.size = session->size;
  facts.pid = static_cast<uint64_t>(getpid());
  facts.host = session->host;
  facts.boot = boot_id();
  facts.output = session->settings.output;
  facts.command = info.command;
  facts.mpi_library = info.mpi_library;
  facts.tsc = Clock::uses_tsc();
  facts.zero = zero;
  facts.first_ticks = session->first_pair.ticks;
  facts.first_monotonic = session->first_pair.nanoseconds;
  facts.start_ticks = info.start_ticks;
  facts.start_realtime = info.start_realtime;
  facts.overhead = info.overhead;
  facts.processors = session->task.processors;
  facts.eager_limits = info.eager_limits;
  facts.call_names = info.call_names;
  facts.call_roles = info.call_roles;
  facts.call_sites = session->settings.call_sites;
  facts.call_paths = session->settings.call_paths;
  facts.sample_period = info.sample_period = session->settings.sample_period;
  facts.function_filter = session->settings.function_filter;
  facts.counters = info.counters;
  if (session->settings.functions) info.function_hooks = functions::hooks();
  facts.function_hooks = static_cast<uint32_t>(info.function_hooks);
  journal::append(JournalEntry::kProcess, facts.pack());
}

/// Ticks per second, from the time since MPI_Init was entered.
double approximate_rate() {
  return ticks_per_second(session->init_pair, ClockPair::sample());
}

/// Restricts recording to the requested window.
void apply_window(const RunWindow& window) {
  const uint64_t now = Clock::now();
  const auto ticks = [&](double seconds) {
    // So far the counter's rate is known only to some percent.
    const double since = seconds * approximate_rate();
    return since > 1e18 ? UINT64_MAX - 1 : now + static_cast<uint64_t>(since);
  };
  if (window.kind == RunWindow::Kind::kSeconds) {
    Recorder::set_window(ticks(window.begin), ticks(window.end), now);
  } else if (window.kind == RunWindow::Kind::kBarriers) {
    Recorder::set_barrier_window(static_cast<uint64_t>(window.begin),
                                 static_cast<uint64_t>(std::min(window.end, 1e18)), now);
  }
}

/// The first comparison of the clocks. Rank 0's settings hold for all.
void start_clocks() {
  Settings& settings = session->settings;
  double common[2] = {settings.clock_per_rank ? 1.0 : 0.0, settings.sync_every};
  PMPI(Bcast)(common, static_cast<int>(sizeof common), handles.byte, 0, session->comm);
  session->clocks.start(session->comm, common[0] != 0);
  session->clocks.measure(kMeasureSeconds);
  journal::clock_sample(session->clocks.parent(), session->clocks.samples());
  PeriodicSync::start(session->comm, session->clocks, common[1]);
}

void new_session() {
  session = new Session;
  session->settings = Settings::from_environment();
  session->host = host_name();
}

/// When MPI_Init (or the first MPI_Session_init) was entered, on the clock in use.
uint64_t ticks_of(const InitStamp& stamp) {
  return Clock::uses_tsc() ? stamp.tsc : stamp.monotonic;
}

bool wants_tsc() {
  return Clock::tsc_usable() && !session->settings.monotonic_clock;
}

/// The counters that rubato trace has tried; they may be missing on another node.
void start_counters() {
  const std::string& list = session->settings.counters;
  if (list.empty() || !session->settings.archive) return;
  session->task.info.counters = list;
  const std::string trouble = ThreadCounters::start(list);
  if (!trouble.empty()) {
    warn("rank " + std::to_string(session->rank) + " on " + session->host +
         " counts nothing: " + trouble);
  }
}

/// A call has two readings of the counters outside its stamps, an enter or leave of a function one.
void add_readings(Overhead& overhead, double ticks) {
  overhead.outside = std::max(0.0, overhead.outside + 2 * ticks);
  if (overhead.function >= 0) overhead.function = std::max(0.0, overhead.function + ticks);
}

/// Replaces the cost of readings in a loop by their mean in the program, on all ranks.
void take_readings(MPI_Comm comm, Overhead& overhead) {
  ThreadCounters::Readings all = ThreadCounters::ended_readings();
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->counters == nullptr) continue;
    all.count += log->counters->readings().count;
    all.ticks += log->counters->readings().ticks;
  }
  const double loop = ThreadCounters::loop_ticks();
  const int64_t own[2] = {static_cast<int64_t>(all.count), static_cast<int64_t>(all.ticks)};
  int64_t sums[2] = {0, 0};
  PMPI(Allreduce)(own, sums, 2, handles.int64, handles.sum, comm);
  if (sums[0] > 0)
    add_readings(overhead, static_cast<double>(sums[1]) / static_cast<double>(sums[0]) - loop);
}

/// Everything else before the first record, once the place for records and the clock are chosen.
/// `start_communicators` enters the initial communicators.
template <class Start>
void begin_records(const InitStamp& stamp, bool threads, Start start_communicators) {
  if (session->space.segments.directory != nullptr) {
    journal::open(session->space.directory, session->space.segments.rank);
  }
  const uint64_t enter = ticks_of(stamp);
  const uint64_t zero = enter - 1;  // so that no record begins at 0
  session->init_pair = {enter, stamp.monotonic};
  session->first_pair = ClockPair::sample();
  ArchiveInfo& info = session->task.info;
  info.start_ticks = Clock::now();
  info.start_realtime = realtime();

  requests::start(threads);
  start_communicators();
  Settings& settings = session->settings;
  const bool walks = settings.call_paths || settings.sample_period != 0;
  if (walks && !frame_rules_usable()) {
    settings.call_paths = false;
    settings.sample_period = 0;
    if (session->rank == 0)
      warn("--call-paths and --sample need glibc 2.35 or newer; recording goes on without them");
  }
  const bool has_places = settings.call_sites || settings.call_paths;
  if (settings.functions || has_places || settings.sample_period != 0) {
    modules::start(wrapper_libraries());
  }
  if (settings.call_paths) CallPaths::record(true);
  if (settings.sample_period != 0) CallPaths::record(false);
  if (!session->settings.archive) {
    if (!session->settings.report.empty())
      session->tables = new RunTables(local_objects(), kMPI_Request_get_status);
    Recorder::keep_sums_only(run_bounds(), session->tables);
  }
  if (has_places) Recorder::record_call_sites();
  start_counters();
  Recorder::start(session->space.segments, zero);
  if (session->settings.archive) {
    info.overhead = measure_overhead(session->settings.functions, has_places);
  }
  if (session->settings.archive && session->has_world) {
    measure_in_place(session->rank, session->size, session->host, info.overhead);
  }
  add_readings(info.overhead, ThreadCounters::loop_ticks());
  info.eager_limits = eager_limits();
  session->task.processors = processors_now();
  note_facts(zero);
  session->recording = true;
  // A child of fork() is not a rank.
  pthread_atfork(nullptr, nullptr, [] { Recorder::stop(); });
  last_words.prepare("rubato: " + how_to_recover("the program called MPI_Abort") + "\n",
                     settings.archive ? settings.output + "/" + kAborted : "", session->rank == 0);
}

/// Call it behind the first recorded call.
void begin_options() {
  if (session->options_begun) return;
  session->options_begun = true;
  threads::note_times();
  Recorder::record_stolen(approximate_rate());
  apply_window(session->settings.window);
  if (session->settings.functions) {
    functions::start(session->settings.function_filter);
  }
  const ThreadLog* log = Recorder::on() ? Recorder::this_thread() : nullptr;
  if (log != nullptr && log->counters != nullptr) log->counters->restart();
  Sampler::start(session->settings.sample_period);
}

/// MPI_Init, with which the world begins.
void record_init_call(CallId init, const InitStamp& stamp, const LateStart& late = {}) {
  ThreadLog* log = begin_call(stamp.call_site);
  if (log == nullptr) return;
  if (log->counters != nullptr) log->counters->restart();  // nothing was counted before
  {
    Call call(log, init, ticks_of(stamp));
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
  const double nanoseconds = static_cast<double>(late.stolen) / approximate_rate() * 1e9;
  Recorder::put_stolen(*log, late.left, static_cast<uint64_t>(nanoseconds), late.told);
}

void begin_session(CallId init, const InitStamp& stamp) {
  new_session();
  session->has_world = true;
  PMPI(Comm_dup)(handles.world, &session->comm);
  PMPI(Comm_rank)(session->comm, &session->rank);
  PMPI(Comm_size)(session->comm, &session->size);
  if (!session->space.make(session->comm, session->settings, session->host)) return;
  Clock::choose(all_ranks(session->comm, wants_tsc()));
  // The environment may have given more than the program asked for.
  int provided_threads = MPI_THREAD_MULTIPLE;
  PMPI(Query_thread)(&provided_threads);
  begin_records(stamp, provided_threads == MPI_THREAD_MULTIPLE, communicators::start);
  ThreadLog* const log = Recorder::on() ? Recorder::this_thread() : nullptr;
  start_clocks();
  // Ranks that share a clock with rank 0 had nothing to do; without the barrier they would start up
  // to a second before the others, and wait for them in the first message.
  const LateStart late =
      leave_barrier(session->comm, session->clocks.sharers(), log, approximate_rate());
  record_init_call(init, stamp, late);
  begin_options();
}

#if MPI_VERSION >= 4
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
void begin_alone(const InitStamp& stamp, MPI_Group everybody) {
  new_session();
  PMPI(Group_rank)(everybody, &session->rank);
  PMPI(Group_size)(everybody, &session->size);
  if (!session->space.make_alone(session->rank, session->size, session->settings, session->host)) {
    return;
  }
  Clock::choose(wants_tsc());
  // Any session may allow concurrent calls of threads.
  begin_records(stamp, true, [&] { communicators::start_without_world(everybody); });
}

/// MPI_Init after this rank or another has opened sessions, and records: from here on those
/// sessions do not matter.
void join_world(CallId init, const InitStamp& stamp) {
  if (session == nullptr) {
    MPI_Group everybody;
    PMPI(Comm_group)(handles.world, &everybody);
    begin_alone(stamp, everybody);
  }
  session->has_world = true;
  PMPI(Comm_dup)(handles.world, &session->comm);
  // Ranks that started without communication may have chosen different clocks and settings.
  session->settings.summary = any_rank(session->comm, session->settings.summary);
  const bool tsc = session->recording && Clock::uses_tsc();
  const bool other = session->recording && !Clock::uses_tsc();
  if (any_rank(session->comm, !session->recording) ||
      (any_rank(session->comm, tsc) && any_rank(session->comm, other)) ||
      (any_rank(session->comm, session->settings.archive) &&
       any_rank(session->comm, !session->settings.archive))) {
    Recorder::stop();
    session->recording = false;
    return;
  }
  communicators::know_world();
  journal::sessions(true);  // only MPI_Finalize ends this job properly
  start_clocks();
  record_init_call(init, stamp);
  begin_options();
}
#endif

/// The last call on record.
void record_the_end(CallId finalize, const void* call_site) {
  ThreadLog* log = begin_call(call_site);
  if (log == nullptr) {
    PMPI(Barrier)(session->comm);
    return;
  }
  Call call(log, finalize);
  PMPI(Barrier)(session->comm);
  call.item(Item::kCommDestroy, communicators::kSelf);
  call.item(Item::kCommDestroy, communicators::kWorld);
  note_collective(call, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, communicators::kWorld,
                  OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  call.leave();
}

/// Ticks per second. The counter's rate can be measured only over some time; a short run waits.
double clock_rate() {
  ClockPair last = ClockPair::sample();
  const uint64_t run = last.nanoseconds - session->first_pair.nanoseconds;
  constexpr uint64_t kShortest = 20'000'000;
  if (Clock::uses_tsc() && run < kShortest) {
    usleep(static_cast<useconds_t>((kShortest - run) / 1000 + 1));
    last = ClockPair::sample();
  }
  return ticks_per_second(session->first_pair, last);
}

/// The end of a run for which only a summary is wanted.
void end_without_archive() {
  const double rate = clock_rate();
  const std::string line = summarise_run(session->comm, session->clocks.model(), rate);
  std::string written;
  if (all_ranks(session->comm, session->tables != nullptr)) {
    ReportTask task;
    task.file = session->settings.report;
    task.command = session->task.info.command;
    task.mpi_library = session->task.info.mpi_library;
    task.summary = line;
    task.call_sites = session->settings.call_sites;
    task.per_second = rate;
    written = write_report(session->comm, session->clocks.model(), task, *session->tables);
  }
  for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    Recorder::release(*log);
  }
  if (session->rank != 0) return;
  say_outcome(line);
  if (!written.empty()) warn(written);
}

/// Reports why no function was recorded although this was requested.
void say_no_functions() {
  const FunctionHooks hooks = session->task.info.function_hooks;
  std::string line = "no functions were recorded: " +
                     functions_property(hooks, false).substr(sizeof "false: " - 1);
  if (hooks == FunctionHooks::kUnseen)
    line += " (mpicc -g -finstrument-functions ...; the same for mpicxx and mpif90, gcc and clang)";
  warn(line);
}

/// The line at the end, by rank 0.
void say_written(const Written& written) {
  if (session->settings.functions && !written.functions) say_no_functions();
  RunReport report;
  report.archive = session->settings.output;
  report.ranks = session->size;
  report.seconds = static_cast<double>(session->end_ticks - session->init_pair.ticks) /
                   session->task.info.ticks_per_second;
  report.calls = written.calls;
  report.bytes = written.bytes;
  report.early = written.early;
  const char* directory = std::getenv("PWD");
  say_outcome(report_line(report, directory != nullptr ? directory : ""));
}

/// The mean cost of finding a call path, in ticks of any rank; negative where no call has one.
double mean_path_ticks(MPI_Comm comm) {
  const CallPaths::Cost known = CallPaths::cost();
  int64_t own[2] = {static_cast<int64_t>(known.ticks), static_cast<int64_t>(known.calls)};
  int64_t all[2] = {0, 0};
  PMPI(Allreduce)(own, all, 2, handles.int64, handles.sum, comm);
  return all[1] == 0 ? -1 : static_cast<double>(all[0]) / static_cast<double>(all[1]);
}

void end_session(CallId finalize, const void* call_site) {
  PeriodicSync::stop();
  record_the_end(finalize, call_site);
  session->end_ticks = Clock::now();
  Recorder::stop();
  Sampler::stop();
  if (const uint64_t threads = ThreadCounters::threads_without(); threads > 0) {
    warn(std::to_string(threads) + " threads of rank " + std::to_string(session->rank) +
         " could not open their counters (ulimit -n?); nothing is counted for them");
  }
  journal::ended(Recorder::ended() != Ended::kNot, Recorder::ended_error());
  session->clocks.measure(kMeasureSeconds);
  if (!session->settings.archive) {
    end_without_archive();
    session->clocks.finish();
    PMPI(Comm_free)(&session->comm);
    return;
  }
  session->task.offsets = session->clocks.model().records(session->task.info.start_ticks);
  session->task.info.ticks_per_second = clock_rate();
  session->task.info.locations_reused = any_rank(session->comm, Recorder::logs_reused());
  if (any_rank(session->comm, !session->task.info.counters.empty())) {
    take_readings(session->comm, session->task.info.overhead);
  }
  if (any_rank(session->comm, FunctionProbe::wanted())) {
    session->task.info.unrecorded_functions =
        take_probes(session->comm, session->task.info.overhead);
  }
  if (any_rank(session->comm, CallPaths::of_calls()))
    session->task.info.path_ticks = mean_path_ticks(session->comm);
  if (session->settings.sample_period != 0) modules::start(wrapper_libraries());  // later libraries
  if (session->settings.functions) session->task.info.function_hooks = functions::hooks();
  session->task.output = session->settings.output;
  session->task.records = session->space.directory;
  session->task.function_filter = session->settings.function_filter;
  session->task.host = session->host;
  if (session->settings.summary) {
    const std::string line =
        summarise_run(session->comm, session->clocks.model(), session->task.info.ticks_per_second);
    if (session->rank == 0) warn(line);
  }
  Written written;
  if (write_archive(session->comm, session->task, written)) {
    for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
      Recorder::release(*log);
    }
    journal::remove();
    session->space.remove(session->comm, session->settings);
    if (session->rank == 0) say_written(written);
  }
  session->clocks.finish();
  PMPI(Comm_free)(&session->comm);
}

}  // namespace

InitStamp before_init(const void* call_site) {
  return {__rdtsc(), Clock::monotonic(), call_site};
}

namespace {

/// The program has loaded, after its start, an MPI library of the other kind (only its launcher
/// could tell) or one that the tracer does not know. It runs untraced.
void leave_to_other_library() {
  pass_everything();
  finished = true;
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

namespace {

RollCall* roll_call = nullptr;

/// False, with a message, if some ranks are not traced. These would not take part in the tracer's
/// communication, so the program runs untraced.
bool every_rank_is_traced() {
  constexpr double kMostSeconds = 10;  // seconds; file systems over a network take some
  int rank = 0, size = 1;
  PMPI(Comm_rank)(handles.world, &rank);
  PMPI(Comm_size)(handles.world, &size);
  const RollCall::Answer answer = roll_call->answer(rank, size, kMostSeconds);
  if (answer.all) return true;
  Recorder::stop();
  if (session != nullptr) session->recording = false;  // one of MPI's sessions
  pass_everything();
  finished = true;
  outcome_is_said();
  if (answer.speaker) warn(untraced_ranks(answer, size));
  return false;
}

}  // namespace

void announce_rank() {
  if (roll_call != nullptr) return;
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

void start_session(CallId init, const InitStamp& stamp) {
  if (started && (session == nullptr || session->has_world || finished)) return;
  started = true;
  if (!load_handles()) {
    delete roll_call;
    leave_to_other_library();
    return;
  }
  try {
    if (!every_rank_is_traced()) return;
#if MPI_VERSION >= 4
    if (any_rank(handles.world, session != nullptr)) {
      join_world(init, stamp);
      return;
    }
#endif
    begin_session(init, stamp);
  } catch (const std::exception& error) {
    Recorder::stop();
    say_outcome(std::string("recording could not start: ") + error.what());
  }
}

void finish_session(CallId finalize, const void* call_site) {
  if (session == nullptr || finished) return;
  finished = true;
  if (!session->recording) return;
  try {
    end_session(finalize, call_site);
  } catch (const std::exception& error) {
    say_outcome(std::string("the trace could not be written: ") + error.what());
  }
}

#if MPI_VERSION >= 4
namespace {

/// This process records, and MPI_Init was not called.
bool alone() {
  return session != nullptr && session->recording && !session->has_world;
}

/// There is a session of the program again.
void open_again() {
  if (!open_job_group()) return;
  communicators::use_world_group(job_group.group);
  journal::sessions(true);
}

}  // namespace

void mpi_session_opened(CallId init, const InitStamp& stamp) {
  const std::lock_guard lock(sessions_mutex);
  const bool first = open_sessions++ == 0;
  if (finished) return;
  if (!started) {
    // On failure `started` stays false: MPI_Init may follow, and the other ranks expect this one to
    // start recording then.
    if (!load_handles()) {
      started = true;
      leave_to_other_library();
      return;
    }
    if (!open_job_group()) return;
    started = true;
    sessions_pid = getpid();
    try {
      begin_alone(stamp, job_group.group);
    } catch (const std::exception& error) {
      Recorder::stop();
      say_outcome(std::string("recording could not start: ") + error.what());
      return;
    }
    if (session->recording) journal::sessions(true);
  } else if (first && alone()) {
    open_again();
  }
  if (session == nullptr || !session->recording) return;
  if (ThreadLog* log = begin_call(stamp.call_site)) {
    Call call(log, init, ticks_of(stamp));
    call.leave();
  }
  begin_options();
}

void mpi_session_closing() {
  const std::lock_guard lock(sessions_mutex);
  // MPI ends with the last of its sessions; ours must not be that.
  if (open_sessions == 1) close_job_group();
}

void mpi_session_closed(bool good) {
  const std::lock_guard lock(sessions_mutex);
  if (good && --open_sessions == 0 && alone()) journal::sessions(false);
  if (!good && open_sessions == 1 && alone()) open_again();
}
#else
void mpi_session_opened(CallId, const InitStamp&) {}
void mpi_session_closing() {}
void mpi_session_closed(bool) {}
#endif

std::string sessions_report() {
  if (session == nullptr || !session->recording || session->has_world || session->rank != 0 ||
      open_sessions > 0 || sessions_pid != getpid()) {
    return "";
  }
  return how_to_recover("this program has MPI sessions and no MPI_Finalize");
}

void abort_session() {
  if (!session_started() || finished) return;
  Recorder::stop();
  last_words.say();
}

bool abort_is_said() {
  return last_words.is_said();
}

std::string how_to_recover(const std::string& what) {
  if (!session->settings.archive) return "no summary: " + what;
  return what + "; to make a trace of what was recorded: rubato recover " +
         shell_word(session->settings.output);
}

bool session_started() {
  return session != nullptr && session->recording;
}
bool session_finished() {
  return finished;
}

}  // namespace tracing
}  // namespace rubato
