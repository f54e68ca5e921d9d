#include "tracer/session/run_facts.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "tracer/base/clock.h"
#include "tracer/layout/journal.h"
#include "tracer/objects/eager_limit.h"
#include "tracer/record/functions.h"
#include "tracer/session/run_clock.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Nanoseconds since 1970.
uint64_t realtime() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// The first line of the library's version, without tabs.
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

/// What both the archive and the journal hold.
void fill(ArchiveTask& task, const Settings& settings) {
  ArchiveInfo& info = task.info;
  info.eager_limits = eager_limits();
  task.processors = processors_now();
  info.command = command_line();
  info.mpi_library = library_version();
  for (const CallInfo& call : kCalls) {
    info.call_names.push_back(call.name);
    info.call_roles.push_back(call.role);
  }
  info.sample_period = settings.sample_period;
  if (settings.functions) info.function_hooks = functions::hooks();
}

ProcessFacts facts_of(const Job& job, const ArchiveTask& task, uint64_t zero) {
  const ArchiveInfo& info = task.info;
  ProcessFacts facts;
  facts.job = job.space.job;
  facts.rank = job.rank;
  facts.size = job.size;
  facts.pid = static_cast<uint64_t>(getpid());
  facts.host = job.host;
  facts.boot = boot_id();
  facts.output = job.settings.output;
  facts.command = info.command;
  facts.mpi_library = info.mpi_library;
  facts.tsc = Clock::uses_tsc();
  facts.zero = zero;
  facts.first_ticks = run_clock::at_begin().ticks;
  facts.first_monotonic = run_clock::at_begin().nanoseconds;
  facts.start_ticks = info.start_ticks;
  facts.start_realtime = info.start_realtime;
  facts.overhead = info.overhead;
  facts.processors = task.processors;
  facts.eager_limits = info.eager_limits;
  facts.call_names = info.call_names;
  facts.call_roles = info.call_roles;
  facts.call_sites = job.settings.call_sites;
  facts.call_paths = job.settings.call_paths;
  facts.sample_period = info.sample_period;
  facts.function_filter = job.settings.function_filter;
  facts.counters = info.counters;
  facts.function_hooks = static_cast<uint32_t>(info.function_hooks);
  return facts;
}

}  // namespace

ArchiveTask& archive_task() {
  static auto* const task = new ArchiveTask;
  return *task;
}

void note_start_time() {
  archive_task().info.start_ticks = Clock::now();
  archive_task().info.start_realtime = realtime();
}

void note_run_facts(const Job& job, uint64_t zero) {
  fill(archive_task(), job.settings);
  journal::append(JournalEntry::kProcess, facts_of(job, archive_task(), zero).pack());
}

}  // namespace tracing
}  // namespace rubato
