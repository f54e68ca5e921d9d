#include "tracer/report/run_report.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tracer/archive/code_places.h"
#include "tracer/base/report_line.h"
#include "tracer/mpi/gather.h"
#include "tracer/objects/communicators.h"
#include "tracer/objects/windows.h"
#include "tracer/record/recorder.h"
#include "tracer/report/rank_report.h"
#include "tracer/report/sums_file.h"
#include "tracer/summary/own_times.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Rows of the matrix, and samples, that rank 0 gets from all ranks together.
constexpr size_t kMostPairs = size_t{1} << 20;
constexpr size_t kMostSamples = size_t{1} << 19;
constexpr size_t kAlways = 64;  ///< of each rank

CommunicatorView view_of_communicator(uint32_t id) {
  const Communicator& entry = *communicators::by_id(id);
  CommunicatorView view;
  view.identity = entry.identity;
  view.member = {entry.rank, entry.peers(), entry.inter()};
  const Members& peers = entry.inter() ? entry.remote_members : entry.members;
  view.peers = peers->data();
  view.size = static_cast<int>(peers->size());
  view.own = (*entry.members)[static_cast<size_t>(entry.rank)];
  view.topology = entry.topology.get();
  return view;
}

uint32_t communicator_of_window(uint32_t id) {
  return windows::by_id(id)->communicator;
}

/// The lines that made the calls, by address.
std::map<uint64_t, std::string> names_of_sites(const RunTables& tables) {
  Used used;
  for (size_t i = 0; i < tables.calls().size(); ++i) {
    const uint64_t site = tables.calls()[i].site;
    if (site > RunTables::kOtherSites) used.call_sites.insert(site);
  }
  ProcessReport report;
  name_code(used, modules::seen(), "", report);
  std::map<uint64_t, std::string> names;
  for (const auto& [address, number] : report.call_sites.at) {
    const CodePlace& place = report.call_sites.list[number];
    names[address] = place.line == 0 ? place.file : place.file + ":" + std::to_string(place.line);
  }
  names[RunTables::kOtherSites] = "(other call sites)";
  return names;
}

void add_calls(RankReport& report, const RunTables& tables, const ReportTask& task) {
  const auto seconds = [&](uint64_t ticks) { return static_cast<double>(ticks) / task.per_second; };
  const auto names = task.call_sites ? names_of_sites(tables) : std::map<uint64_t, std::string>();
  for (size_t i = 0; i < tables.calls().size(); ++i) {
    const CallSums& sums = tables.calls()[i];
    CallRow row;
    row.call = sums.call;
    const auto name = names.find(sums.site);
    if (name != names.end()) row.site = name->second;
    row.calls = sums.calls;
    row.timed = sums.timed;
    row.outside = seconds(sums.outside);
    const auto with_core = [&](uint64_t ticks, uint64_t stolen) {
      return std::max(0.0, seconds(ticks) - static_cast<double>(stolen) * 1e-9);
    };
    row.time = with_core(sums.ticks, sums.stolen);
    row.most = with_core(sums.longest.ticks, sums.longest.stolen);
    // (A call that nearly always lacked a core has no time of its own that is known well.)
    const double mean = sums.timed > 0 ? row.time / static_cast<double>(sums.timed) : 0;
    row.least = std::min(sums.least == UINT64_MAX ? mean : seconds(sums.least), mean);
    row.numbered = std::min(row.time, seconds(sums.numbered));
    row.bytes_completed = sums.bytes_completed;
    report.calls.push_back(std::move(row));
  }
  tables.for_each_size([&](size_t call, bool sends, unsigned size_class, const SizeSums& sums) {
    report.calls[call].sizes.push_back({sends, size_class, sums.count, sums.bytes});
  });
}

void add_pairs(RankReport& report, const RunTables& tables, const ReportTask& task, int ranks) {
  tables.for_each_peer([&](int peer, const PeerSums& sums) {
    report.pairs.push_back({peer, sums.sent, sums.sent_bytes, sums.fetched, sums.fetched_bytes,
                            sums.ticks / task.per_second});
  });
  std::sort(report.pairs.begin(), report.pairs.end(), [](const PairRow& a, const PairRow& b) {
    const uint64_t of_a = a.sent_bytes + a.fetched_bytes, of_b = b.sent_bytes + b.fetched_bytes;
    return of_a != of_b ? of_a > of_b : a.peer < b.peer;
  });
  const size_t most = std::max(kAlways, kMostPairs / static_cast<size_t>(ranks));
  for (size_t i = most; i < report.pairs.size(); ++i) {
    ++report.pairs_left_out;
    report.messages_left_out += report.pairs[i].sent + report.pairs[i].fetched;
  }
  report.pairs.resize(std::min(most, report.pairs.size()));
}

/// The samples, with times in nanoseconds of rank 0's clock.
void add_samples(RankReport& report, MPI_Comm comm, const ClockModel& clock, double per_second,
                 RunTables& tables, int ranks) {
  WaitSamples& samples = tables.samples();
  int64_t spoilt = samples.spoilt(), any_spoilt = 0;
  PMPI(Allreduce)(&spoilt, &any_spoilt, 1, handles.int64, handles.max, comm);
  report.waits_known = any_spoilt == 0;
  const size_t most = std::max(kAlways, kMostSamples / static_cast<size_t>(ranks));
  auto stride = static_cast<int64_t>(samples.stride_for(1, most));
  int64_t largest = 1;
  PMPI(Allreduce)(&stride, &largest, 1, handles.int64, handles.max, comm);
  report.stride = static_cast<uint64_t>(largest);
  if (!report.waits_known) return;
  report.samples = samples.take(report.stride);
  uint64_t origin = Recorder::zero();
  PMPI(Bcast)(&origin, sizeof origin, handles.byte, 0, comm);
  const auto nanoseconds = [&](uint64_t ticks) {
    const uint64_t time = clock.reference(ticks);
    return time < origin
               ? 0
               : static_cast<uint64_t>(static_cast<double>(time - origin) / per_second * 1e9);
  };
  for (Sample& sample : report.samples) {
    sample.enter = nanoseconds(sample.enter);
    sample.leave = nanoseconds(sample.leave);
    if (sample.role <= SampleRole::kReceive) sample.posted = nanoseconds(sample.posted);
  }
}

/// The records of steps. Returns their stride, 0 if there are none.
uint64_t add_steps(RankReport& report, MPI_Comm comm, const RunTables& tables, double per_second) {
  auto stride = static_cast<int64_t>(tables.steps().stride());
  int64_t largest = 1;
  PMPI(Allreduce)(&stride, &largest, 1, handles.int64, handles.max, comm);
  if (!report.waits_known) return 0;
  const auto name = [](unsigned call) { return kCalls[call].name; };
  const auto one_of = static_cast<uint64_t>(largest);
  report.steps = tables.steps().text(one_of, per_second, local_objects(), name);
  return one_of;
}

RankReport own_report(MPI_Comm comm, const ClockModel& clock, const ReportTask& task,
                      RunTables& tables, uint64_t& steps_one_of) {
  int ranks;
  PMPI(Comm_size)(comm, &ranks);
  double reference_per_second = task.per_second;
  PMPI(Bcast)(&reference_per_second, sizeof reference_per_second, handles.byte, 0, comm);
  RankReport report;
  RankTimes times;
  for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    TimeSums sums = log->sums != nullptr ? *log->sums : TimeSums(run_bounds());
    log->sum_up(sums, &tables);
    times.add(sums, task.per_second);
    report.tracer += static_cast<double>(sums.tracer_ticks()) / task.per_second;
    if (!sums.any()) continue;
    const auto seconds = [&](uint64_t ticks) {
      return static_cast<double>(clock.reference(ticks)) / reference_per_second;
    };
    report.starts += seconds(sums.start());
    report.ends += seconds(sums.end());
    if (log->number != 0) continue;
    report.start = seconds(sums.start());
    report.end = seconds(sums.end());
  }
  tables.finish();
  report.threads = times.threads;
  report.compute = times.compute;
  report.lost_core = times.stolen;
  report.not_recorded = times.not_recorded;
  report.stopped = Recorder::ended() != Ended::kNot;
  report.left_out = tables.left_out();
  add_calls(report, tables, task);
  add_pairs(report, tables, task, ranks);
  add_samples(report, comm, clock, reference_per_second, tables, ranks);
  report.host = task.host;
  steps_one_of = add_steps(report, comm, tables, task.per_second);
  return report;
}

}  // namespace

LocalObjects local_objects() {
  return {view_of_communicator, communicator_of_window};
}

std::string write_report(MPI_Comm comm, const ClockModel& clock, const ReportTask& task,
                         RunTables& tables) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  JobReport job;
  std::vector<std::string> parts =
      gather(comm, own_report(comm, clock, task, tables, job.steps_one_of).pack());
  if (rank != 0) return "";
  job.command = task.command;
  job.mpi_library = task.mpi_library;
  job.summary = task.summary;
  job.call_sites = task.call_sites;
  job.outside = task.outside;
  for (const CallInfo& call : kCalls) job.call_names.push_back(call.name);
  for (std::string& part : parts) job.ranks.push_back(RankReport::unpack(std::exchange(part, {})));
  complete(job);
  const char* const here = std::getenv("PWD");
  const std::string name = seen_from(here != nullptr ? here : "", write_sums_file(job, task.file));
  if (name.empty())
    return "the sums could not be written to " + task.file + ": " + std::strerror(errno);
  return "wrote " + shell_word(name) + "; next: rubato profile " + shell_word(name);
}

}  // namespace tracing
}  // namespace rubato
