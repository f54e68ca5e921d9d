#include "tracer/archive/archive_writer.h"
#include "tracer/counters/counter_list.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tracer/archive/archive_files.h"
#include "tracer/archive/code_places.h"
#include "tracer/base/file_limit.h"
#include "tracer/base/report_line.h"
#include "tracer/base/warnings.h"
#include "tracer/mpi/gather.h"
#include "tracer/mpi/symbol_lookup.h"
#include "tracer/objects/communicators.h"
#include "tracer/objects/windows.h"
#include "tracer/record/call_paths.h"
#include "tracer/record/recorder.h"
#include "tracer/record/threads.h"

/// How the ranks share the work.
///
/// Rank 0 opens the archive and makes its directories. Every other rank then adds the two files of
/// each of its locations, and touches nothing else: four operations on the file system. OTF2 would
/// have the ranks meet inside it, where one whose disk is full leaves the others waiting; so its
/// collective callbacks do nothing (archive_files.cc). Each rank finishes by itself and reports its
/// result to rank 0, which writes the global definitions and, only if all succeeded, the anchor
/// file. Without an anchor no reader takes the directory for an archive.
namespace rubato {
inline namespace tracing {
namespace {

/// The report of a rank to rank 0 when its event files are written.
struct RankResult {
  bool good = true;
  Ended ended = Ended::kNot;
  RankSummary summary;
  uint64_t bytes = 0;   ///< of its files, where they are whole
  int ended_error = 0;  ///< Recorder's
  int otf2_error = 0;   ///< OTF2's reason if it is not good

  std::string pack() const {
    Packer packer;
    packer.put(good);
    packer.put(static_cast<uint64_t>(ended));
    packer.put(bytes);
    packer.put(ended_error);
    packer.put(otf2_error);
    packer.put(summary.host);
    packer.put(summary.processors.affinity_cores);
    packer.put(summary.processors.affinity_list);
    packer.put(summary.processors.cores_on_node);
    packer.put(static_cast<uint64_t>(summary.processors.socket + 1));
    packer.put(summary.threads_without_log.ran);
    packer.put(summary.threads_without_log.waited);
    packer.put(summary.locations.size());
    for (const LocationSummary& l : summary.locations) {
      for (const uint64_t value :
           {l.location, l.events, l.calls, l.first, l.last, l.involuntary_switches}) {
        packer.put(value);
      }
    }
    packer.put(summary.topologies.size());
    for (const TopologyReport& t : summary.topologies) t.pack(packer);
    return packer.bytes();
  }

  static RankResult unpack(const std::string& bytes) {
    Unpacker from(bytes);
    RankResult result;
    result.good = from.value() != 0;
    result.ended = static_cast<Ended>(from.value());
    result.bytes = from.value();
    result.ended_error = static_cast<int>(from.value());
    result.otf2_error = static_cast<int>(from.value());
    result.summary.host = from.text();
    result.summary.processors.affinity_cores = from.value();
    result.summary.processors.affinity_list = from.text();
    result.summary.processors.cores_on_node = from.value();
    result.summary.processors.socket = static_cast<int>(from.value()) - 1;
    result.summary.threads_without_log.ran = from.value();
    result.summary.threads_without_log.waited = from.value();
    result.summary.locations.resize(from.value());
    for (LocationSummary& l : result.summary.locations) {
      for (uint64_t* value :
           {&l.location, &l.events, &l.calls, &l.first, &l.last, &l.involuntary_switches}) {
        *value = from.value();
      }
    }
    for (uint64_t count = from.value(); count > 0; --count) {
      result.summary.topologies.push_back(TopologyReport::unpack(from));
    }
    return result;
  }
};

/// The records of this process, its threads by their numbers.
ProcessRecords own_records(int rank, const ArchiveTask& task) {
  ProcessRecords own;
  own.rank = rank;
  own.zero = Recorder::zero();
  own.ends.call = Clock::now();  // another thread is still in a call
  own.offsets = task.offsets;
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    ThreadRecords thread(log->number, log->segments.file(), log->segments.overflow_file(),
                         Recorder::call_sites());
    if (!thread.empty() || log->number == 0) own.threads.push_back(std::move(thread));
  }
  std::sort(own.threads.begin(), own.threads.end(),
            [](const ThreadRecords& a, const ThreadRecords& b) { return a.thread() < b.thread(); });
  return own;
}

/// How often the threads of a location lost their core since their first call.
uint64_t switches_of(uint32_t thread) {
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->number != thread) continue;
    if (log->thread_id == 0) return log->ended_switches;
    const uint64_t now = involuntary_switches(log->thread_id);
    return now == kUnknownSwitches
               ? now
               : log->ended_switches + now - std::min(now, log->context_switches);
  }
  return kUnknownSwitches;
}

/// How this process's calls reached the wrappers.
Reach reach_of_calls() {
  const Interception found = interception();
  Reach reach;
  if (found.by_reference) reach.ways.push_back("references");
  for (const std::string& name : wrapper_libraries()) reach.ways.push_back("wrappers of " + name);
  if (found.by_dlsym) reach.ways.push_back("dlsym");
  if (found.by_deepbind) reach.ways.push_back("RTLD_DEEPBIND");
  reach.unwatched = found.unwatched;
  return reach;
}

/// One communicator is reported by one of its members alone: the first of the side that is called
/// A.
bool reported_here(const CommunicatorReport& c, int world_rank) {
  if (c.self_like) return true;
  if (!c.recordable || c.members.front() != world_rank) return false;
  return c.remote_members.empty() || c.members.front() < c.remote_members.front();
}

/// Keeps the elements that `known` lacks.
void remove_known(CodePlaces& places, const CodePlaces& known) {
  const std::set<CodePlace> there(known.list.begin(), known.list.end());
  std::erase_if(places.list, [&](const CodePlace& place) { return there.count(place) != 0; });
}

/// Agrees on numbers. Rank 0 gets the definitions.
Numbering unify(MPI_Comm comm, int rank, const ProcessReport& all, Definitions& definitions) {
  ProcessReport own = all;
  // Most ranks run the same functions as rank 0 and need not report them.
  ProcessReport of_rank_0;
  if (rank == 0) {
    of_rank_0.functions = own.functions;
    of_rank_0.call_sites = own.call_sites;
  }
  of_rank_0 = ProcessReport::unpack(broadcast(comm, of_rank_0.pack()));
  if (rank != 0) {
    remove_known(own.functions, of_rank_0.functions);
    remove_known(own.call_sites, of_rank_0.call_sites);
  }
  std::erase_if(own.communicators,
                [rank](const CommunicatorReport& c) { return !reported_here(c, rank); });
  std::vector<ProcessReport> reports;
  for (const std::string& part : gather(comm, own.pack())) {
    reports.push_back(ProcessReport::unpack(part));
  }
  Numbering numbering;
  if (rank == 0) definitions = arrange(reports, numbering);
  return Numbering::unpack(broadcast(comm, numbering.pack()));
}

/// Agrees on numbers of call paths. Rank 0 gets the definitions.
ContextNumbers unify_contexts(MPI_Comm comm, int rank, const ProcessReport& own,
                              const Numbering& numbering, ContextTable& table) {
  int64_t mine = own.paths.empty() ? 0 : 1, any = 0;
  PMPI(Allreduce)(&mine, &any, 1, handles.int64, handles.max, comm);
  if (any == 0) return {};
  // Ranks report only the paths that rank 0 does not have.
  if (rank == 0) add_contexts(own, numbering, table);
  const std::string first = broadcast(comm, table.pack());
  if (rank != 0) table.add_packed(first, 0);
  const size_t shared = table.list().size();
  if (rank != 0) add_contexts(own, numbering, table);
  for (const std::string& part : gather(comm, table.pack(shared))) table.add_packed(part, shared);
  const std::string all = broadcast(comm, table.pack());
  if (rank != 0) {
    table = {};
    table.add_packed(all, 0);
  }
  return add_contexts(own, numbering, table);
}

/// Ranks other than 0: the files of their locations, whole or not there.
std::vector<LocationSummary> write_part(const std::string& output, const ProcessRecords& records,
                                        const Translation& translation, bool& good) {
  OTF2_Archive* archive = open_archive(output, Writer::kFurther);
  good = archive != nullptr;
  if (!good) return {};
  const auto written = write_locations(archive, {records}, {translation});
  good = !written.empty() && OTF2_Archive_Close(archive) == OTF2_SUCCESS;
  if (good) return written.front();
  for (const ThreadRecords& thread : records.threads) {
    const uint64_t location = static_cast<uint64_t>(records.rank) | uint64_t{thread.thread()} << 32;
    for (const char* kind : {".evt", ".def"})
      unlink((output + "/traces/" + std::to_string(location) + kind).c_str());
  }
  return {};
}

uint64_t file_bytes(const std::string& name) {
  struct stat info;
  return stat(name.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

/// Bytes of the files that a rank wrote.
uint64_t bytes_of(const std::string& output, const std::vector<LocationSummary>& locations) {
  uint64_t bytes = 0;
  for (const LocationSummary& l : locations) {
    for (const char* kind : {".evt", ".def"})
      bytes += file_bytes(output + "/traces/" + std::to_string(l.location) + kind);
  }
  return bytes;
}

/// Why some ranks stopped recording early: the value of the archive's property.
std::string completeness(const std::vector<RankResult>& ranks) {
  const auto same = [](const RankResult& a) {
    return
        [&a](const RankResult& b) { return a.ended == b.ended && a.ended_error == b.ended_error; };
  };
  for (const Ended ended : {Ended::kMemoryFull, Ended::kWriteFailed}) {
    const auto first = std::find_if(ranks.begin(), ranks.end(),
                                    [&](const RankResult& r) { return r.ended == ended; });
    if (first == ranks.end()) continue;
    return "false: " + why_stopped(first->ended_error) + " on " +
           std::to_string(std::count_if(first, ranks.end(), same(*first))) + " of " +
           std::to_string(ranks.size()) + " ranks";
  }
  return "true";
}

}  // namespace

bool write_archive(MPI_Comm comm, const ArchiveTask& task, Written& written) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  const NoFileSizeSignal quiet;
  silence_otf2();

  const ProcessRecords records = own_records(rank, task);
  ProcessReport report;
  report.communicators = communicators::reports();
  report.windows = windows::reports();
  report.groups = windows::groups();
  Definitions definitions;
  Used used;
  used.calls.resize(kCallCount);
  used.call_paths = CallPaths::of_calls();
  for (const ThreadRecords& thread : records.threads) summarise(thread, records.zero, used);
  used.leave_out_unknown_threads();
  report.used = used.calls;
  report.threads = used.threads;
  report.reach = reach_of_calls();
  name_code(used, modules::seen(), task.function_filter, report);
  const Numbering numbering = unify(comm, rank, report, definitions);
  Translation translation = translate(report, numbering);
  translation.counters = counter_names(task.info.counters).size();
  ContextTable contexts;
  translation.context = unify_contexts(comm, rank, report, numbering, contexts);
  translation.contexts = definitions.contexts = contexts.list();

  OTF2_Archive* archive = nullptr;
  std::string ready = "ready";
  if (rank == 0) {
    // OTF2 would make it in another place, where the program has changed its root.
    struct stat info;
    if (stat(task.output.c_str(), &info) != 0)
      otf2_error = errno;
    else
      archive = open_archive(task.output, Writer::kFirst);
    if (archive == nullptr) ready.clear();
    mkdir((task.output + "/traces").c_str(), 0777);
  }
  RankResult own;
  own.summary.host = task.host;
  own.summary.processors = task.processors;
  own.summary.threads_without_log = threads::times_without_log();
  own.summary.topologies = translated(communicators::topologies(), translation);
  own.ended = Recorder::ended();
  own.ended_error = Recorder::ended_error();
  own.good = !broadcast(comm, ready).empty();
  if (own.good && rank == 0) {
    const auto locations = write_locations(archive, {records}, {translation});
    own.good = !locations.empty();
    if (own.good) own.summary.locations = locations.front();
  } else if (own.good) {
    own.summary.locations = write_part(task.output, records, translation, own.good);
    own.bytes = bytes_of(task.output, own.summary.locations);
  }
  for (LocationSummary& l : own.summary.locations) {
    l.involuntary_switches = switches_of(static_cast<uint32_t>(l.location >> 32));
  }
  own.otf2_error = otf2_error;
  const auto parts = gather(comm, own.pack());

  std::string outcome = "whole";
  if (rank == 0) {
    std::vector<RankResult> ranks;
    std::vector<RankSummary> summaries;
    for (const std::string& part : parts) {
      ranks.push_back(RankResult::unpack(part));
      summaries.push_back(ranks.back().summary);
    }
    const auto failed =
        std::count_if(ranks.begin(), ranks.end(), [](const RankResult& r) { return !r.good; });
    const std::string complete = completeness(ranks);
    bool good = failed == 0;
    if (good) {
      OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
      good = writer != nullptr &&
             write_definitions(writer, task.info, definitions, numbering, summaries) &&
             OTF2_Archive_CloseGlobalDefWriter(archive, writer) == OTF2_SUCCESS &&
             write_properties(archive, task.info, definitions, definitions.reach, complete);
    }
    good = good && OTF2_Archive_Close(archive) == OTF2_SUCCESS && !otf2_failed;
    if (!good) {
      outcome.clear();
      unlink((task.output + "/traces.otf2").c_str());
      const std::string where = failed > 0 ? " on " + std::to_string(failed) + " of " +
                                                 std::to_string(ranks.size()) + " ranks"
                                           : "";
      const auto bad = std::find_if(ranks.begin(), ranks.end(),
                                    [](const RankResult& r) { return r.otf2_error != 0; });
      const WriteTrouble trouble = write_trouble(bad != ranks.end() ? bad->otf2_error : otf2_error);
      say_outcome("the trace is incomplete: writing to " + task.output + " failed" + where + "; " +
                  trouble.cause + " " +
                  (task.records.empty()
                       ? "The records were in the memory of the program and are lost"
                       : "The records are kept (rank 0's in " + task.records + "); " +
                             trouble.remedy + (trouble.remedy.empty() ? "" : " and ") +
                             "run: rubato recover " + shell_word(task.output)));
    } else if (complete != "true") {
      written.early = complete.substr(7);
    }
    written.functions = definitions.has_functions;
    // Its own files are whole only now.
    written.bytes = bytes_of(task.output, own.summary.locations);
    for (const char* file : {"/traces.otf2", "/traces.def"})
      written.bytes += file_bytes(task.output + file);
    for (const RankResult& result : ranks) {
      written.bytes += result.bytes;
      for (const LocationSummary& l : result.summary.locations) written.calls += l.calls;
    }
  }
  return !broadcast(comm, outcome).empty();
}

}  // namespace tracing
}  // namespace rubato
