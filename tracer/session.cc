#include "tracer/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "tracer/archive_writer.h"
#include "tracer/call_communicators.h"
#include "tracer/clock_sync.h"
#include "tracer/functions.h"
#include "tracer/journal.h"
#include "tracer/modules.h"
#include "tracer/overhead.h"
#include "tracer/periodic_sync.h"
#include "tracer/record_space.h"
#include "tracer/requests.h"
#include "tracer/settings.h"

namespace rubato {
namespace {

/// What lives from MPI_Init to MPI_Finalize.
struct Session {
  Settings settings;
  MPI_Comm comm;  ///< a copy of MPI_COMM_WORLD for the tracer's own messages
  std::string host;
  RecordSpace space;
  ClockSync clocks;
  ClockPair init_pair;   ///< when MPI_Init was entered
  ClockPair first_pair;  ///< when it was left
  ArchiveTask task;
  bool recording = false;  ///< from MPI_Init on; not where there was no place for the archive
};

/// All that is between them depends on the first and the last comparison of the clocks: where the
/// cores are busy with something else, it may take this long.
constexpr double kMeasureSeconds = 1;

Session* session = nullptr;
bool started = false;
bool finished = false;

uint64_t realtime() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// True when all ranks have it so.
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
  const auto get = reinterpret_cast<GetVersion>(mpi_symbol("PMPI_Get_library_version"));
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

/// Everything that a reader of the records has to know, to the journal and for the archive.
void note_facts(uint64_t zero) {
  int rank, size;
  PMPI(Comm_rank)(session->comm, &rank);
  PMPI(Comm_size)(session->comm, &size);
  ArchiveInfo& info = session->task.info;
  info.command = command_line();
  info.mpi_library = library_version();
  for (const CallInfo& call : kCalls) {
    info.call_names.push_back(call.name);
    info.call_roles.push_back(call.role);
  }
  ProcessFacts facts;
  facts.job = session->space.job;
  facts.rank = rank;
  facts.size = size;
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
  facts.function_filter = session->settings.function_filter;
  journal::append(JournalEntry::kProcess, facts.pack());
}

/// Ticks per second as far as it is known: since MPI_Init was entered.
double approximate_rate() {
  return ticks_per_second(session->init_pair, ClockPair::sample());
}

/// Switches off what is not asked for.
void apply_window(const RunWindow& window) {
  const uint64_t now = Clock::now();
  const auto ticks = [&](double seconds) {
    // The counter's rate is not known to more than some percent yet.
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

void begin_session(CallId init, const InitStamp& stamp) {
  session = new Session;
  session->settings = Settings::from_environment();
  session->host = host_name();
  PMPI(Comm_dup)(handles.world, &session->comm);
  if (!session->space.make(session->comm, session->settings, session->host)) return;
  if (session->space.segments.directory != nullptr) {
    journal::open(session->space.directory, session->space.segments.rank);
  }

  Clock::choose(
      all_ranks(session->comm, Clock::tsc_usable() && !session->settings.monotonic_clock));
  const uint64_t enter = Clock::uses_tsc() ? stamp.tsc : stamp.monotonic;
  const uint64_t zero = enter - 1;  // so that no record begins at 0
  session->init_pair = {enter, stamp.monotonic};
  session->first_pair = ClockPair::sample();
  ArchiveInfo& info = session->task.info;
  info.start_ticks = Clock::now();
  info.start_realtime = realtime();

  // The environment may have given more than the program asked for.
  int provided_threads = MPI_THREAD_MULTIPLE;
  PMPI(Query_thread)(&provided_threads);
  requests::start(provided_threads == MPI_THREAD_MULTIPLE);
  communicators::start();
  if (session->settings.functions || session->settings.call_sites) modules::start();
  Recorder::start(session->space.segments, zero);
  info.overhead = measure_overhead();
  info.eager_limits = eager_limits();
  session->task.processors = processors_now();
  note_facts(zero);
  start_clocks();
  if (session->settings.call_sites) Recorder::record_call_sites();
  session->recording = true;
  // A child of fork() is not a rank.
  pthread_atfork(nullptr, nullptr, [] { Recorder::stop(); });

  ThreadLog* log = begin_call(stamp.call_site);
  if (log == nullptr) return;
  Call call(log, init, enter);
  call.item(Item::kCommCreate, communicators::kWorld);
  call.item(Item::kCommCreate, communicators::kSelf);
  note_collective(call, OTF2_COLLECTIVE_OP_CREATE_HANDLE, communicators::kWorld,
                  OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  call.leave();
  apply_window(session->settings.window);
  if (session->settings.functions) functions::start(session->settings.function_filter);
}

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

/// Ticks per second. The rate of the counter shows only over some time; a short run waits a moment.
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

void end_session(CallId finalize, const void* call_site) {
  PeriodicSync::stop();
  record_the_end(finalize, call_site);
  Recorder::stop();
  session->clocks.measure(kMeasureSeconds);
  session->task.offsets = session->clocks.model().records(session->task.info.start_ticks);
  session->task.info.ticks_per_second = clock_rate();
  session->task.info.locations_reused = any_rank(session->comm, Recorder::logs_reused());
  session->task.output = session->settings.output;
  session->task.function_filter = session->settings.function_filter;
  session->task.host = session->host;
  if (write_archive(session->comm, session->task)) {
    for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
      Recorder::release(*log);
    }
    journal::remove();
    session->space.remove(session->comm, session->settings);
  }
  session->clocks.finish();
  PMPI(Comm_free)(&session->comm);
}

}  // namespace

InitStamp before_init(const void* call_site) {
  return {__rdtsc(), Clock::monotonic(), call_site};
}

void start_session(CallId init, const InitStamp& stamp) {
  if (started) return;
  started = true;
  if (!load_handles()) {
    warn("this tracer does not fit the MPI library of the program; nothing is recorded");
    return;
  }
  try {
    begin_session(init, stamp);
  } catch (const std::exception& error) {
    Recorder::stop();
    warn(std::string("recording could not start: ") + error.what());
  }
}

void finish_session(CallId finalize, const void* call_site) {
  if (session == nullptr || finished) return;
  finished = true;
  if (!session->recording) return;
  try {
    end_session(finalize, call_site);
  } catch (const std::exception& error) {
    warn(std::string("the trace could not be written: ") + error.what());
  }
}

void abort_session() {
  if (session == nullptr || finished) return;
  Recorder::stop();
  warn(how_to_recover("the program called MPI_Abort"));
}

std::string how_to_recover(const std::string& what) {
  return what + "; to make a trace of what was recorded: rubato recover " +
         session->settings.output;
}

bool session_started() {
  return session != nullptr && session->recording;
}
bool session_finished() {
  return finished;
}

}  // namespace rubato
