#include "tracer/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "tracer/archive_writer.h"
#include "tracer/call_communicators.h"
#include "tracer/clock_sync.h"
#include "tracer/overhead.h"
#include "tracer/periodic_sync.h"
#include "tracer/requests.h"
#include "tracer/settings.h"

namespace rubato {
namespace {

/// What lives from MPI_Init to MPI_Finalize.
struct Session {
  Settings settings;
  MPI_Comm comm;  ///< a copy of MPI_COMM_WORLD for the tracer's own messages
  ClockSync clocks;
  ClockPair first_pair;
  ArchiveInfo info;
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

/// The first comparison of the clocks. Rank 0's settings hold for all.
void start_clocks() {
  Settings& settings = session->settings;
  double common[2] = {settings.clock_per_rank ? 1.0 : 0.0, settings.sync_every};
  PMPI(Bcast)(common, static_cast<int>(sizeof common), handles.byte, 0, session->comm);
  session->clocks.start(session->comm, common[0] != 0);
  session->clocks.measure(kMeasureSeconds);
  PeriodicSync::start(session->comm, session->clocks, common[1]);
}

void begin_session(CallId init, const InitStamp& stamp, int required_threads) {
  session = new Session;
  session->settings = Settings::from_environment();
  int world_rank, world_size;
  PMPI(Comm_rank)(handles.world, &world_rank);
  PMPI(Comm_size)(handles.world, &world_size);
  PMPI(Comm_dup)(handles.world, &session->comm);

  Clock::choose(
      all_ranks(session->comm, Clock::tsc_usable() && !session->settings.monotonic_clock));
  const uint64_t enter = Clock::uses_tsc() ? stamp.tsc : stamp.monotonic;
  session->first_pair = ClockPair::sample();
  session->info.start_ticks = Clock::now();
  session->info.start_realtime = realtime();

  Recorder::set_limit(session->settings.memory);
  requests::start(required_threads == MPI_THREAD_MULTIPLE);
  communicators::start();
  Recorder::start(enter);
  session->info.overhead = measure_overhead();
  start_clocks();
  // A child of fork() is not a rank.
  pthread_atfork(nullptr, nullptr, [] { Recorder::stop(); });

  ThreadLog* log = begin_call();
  if (log == nullptr) return;
  Call call(log, init, enter);
  call.item(Item::kCommCreate, communicators::kWorld);
  call.item(Item::kCommCreate, communicators::kSelf);
  note_collective(call, OTF2_COLLECTIVE_OP_CREATE_HANDLE, communicators::kWorld,
                  OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  call.leave();
}

void end_session(CallId finalize) {
  PeriodicSync::stop();
  ThreadLog* log = begin_call();
  if (log != nullptr) {
    Call call(log, finalize);
    PMPI(Barrier)(session->comm);
    call.item(Item::kCommDestroy, communicators::kSelf);
    call.item(Item::kCommDestroy, communicators::kWorld);
    note_collective(call, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, communicators::kWorld,
                    OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    call.leave();
  } else {
    PMPI(Barrier)(session->comm);
  }
  Recorder::stop();

  ArchiveInfo& info = session->info;
  session->clocks.measure(kMeasureSeconds);
  info.clock = session->clocks.model();
  // The rate of the counter shows only over some time; a short run waits a moment.
  ClockPair last = ClockPair::sample();
  const uint64_t run = last.nanoseconds - session->first_pair.nanoseconds;
  constexpr uint64_t kShortest = 20'000'000;
  if (Clock::uses_tsc() && run < kShortest) {
    usleep(static_cast<useconds_t>((kShortest - run) / 1000 + 1));
    last = ClockPair::sample();
  }
  info.ticks_per_second = ticks_per_second(session->first_pair, last);
  info.output = session->settings.output;
  info.command = command_line();
  info.mpi_library = library_version();
  write_archive(session->comm, info);
  session->clocks.finish();
  PMPI(Comm_free)(&session->comm);
}

}  // namespace

InitStamp before_init() {
  return {__rdtsc(), Clock::monotonic()};
}

void start_session(CallId init, const InitStamp& stamp, int required_threads) {
  if (started) return;
  started = true;
  if (!load_handles()) {
    warn("this tracer does not fit the MPI library of the program; nothing is recorded");
    return;
  }
  try {
    begin_session(init, stamp, required_threads);
  } catch (const std::exception& error) {
    Recorder::stop();
    warn(std::string("recording could not start: ") + error.what());
  }
}

void finish_session(CallId finalize) {
  if (session == nullptr || finished) return;
  finished = true;
  try {
    end_session(finalize);
  } catch (const std::exception& error) {
    warn(std::string("the trace could not be written: ") + error.what());
  }
}

void abort_session() {
  if (session == nullptr || finished) return;
  Recorder::stop();
  warn("MPI_Abort: what was recorded is lost");
}

bool session_started() {
  return started;
}
bool session_finished() {
  return finished;
}

}  // namespace rubato
