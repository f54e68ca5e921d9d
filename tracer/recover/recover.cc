#include "tracer/recover/recover.h"
#include "tracer/counters/counter_list.h"
#include "tracer/counters/kernel_events.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "tracer/archive/archive_definitions.h"
#include "tracer/archive/archive_files.h"
#include "tracer/archive/code_places.h"
#include "tracer/base/clock.h"
#include "tracer/base/file_limit.h"
#include "tracer/recover/record_search.h"

namespace fs = std::filesystem;

/// One process does the work that all ranks do at MPI_Finalize (archive_writer.cc), with their
/// journals in place of their messages. Two things are not recorded and have to be estimated: the
/// rate of a clock that was not measured a second time, and the end of the call in which a process
/// died, which is set to the last time stamp of the job.
namespace rubato {
inline namespace tracing {
namespace {

/// How much of the work is done. All records are read three times: for their checksums, for what
/// they refer to, and to be written as events, which takes longest.
class Share {
 public:
  explicit Share(std::function<void(double)> progress) : progress_(std::move(progress)) {}
  void expect(uint64_t bytes) { bytes_ = static_cast<double>(bytes); }

  /// A new pass over the records begins: the earlier ones took the share `before` of the total
  /// time, this one takes `part`.
  void begin(double before, double part) {
    done_ = before;
    part_ = part;
  }
  void add(uint64_t bytes) {
    if (!progress_) return;
    done_ += part_ * static_cast<double>(bytes) / bytes_;
    progress_(std::min(done_, 0.99));
  }

 private:
  std::function<void(double)> progress_;
  double bytes_ = 0;  ///< of all records
  double done_ = 0;
  double part_ = 0;
};
constexpr double kOfChecksums = 0.03, kOfSummaries = 0.07, kOfEvents = 0.9;

/// Files stay open while their records are read, two for each thread at most.
class OpenFiles {
 public:
  OpenFiles() {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OpenFiles() {
    for (const int file : files_) close(file);
  }
  int open(const std::string& name) {
    const int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) throw RecoverError(name + ": " + std::strerror(errno));
    files_.push_back(file);
    names_[file] = name;
    return file;
  }
  const std::string& name(int file) const { return names_.at(file); }

 private:
  std::vector<int> files_;
  std::map<int, std::string> names_;
};

void find_threads(const RecordSearch& search, OpenFiles& open_files, Found& process) {
  ProcessRecords& records = process.records;
  records.rank = process.journal.facts.rank;
  records.zero = process.journal.facts.zero;
  for (const auto& [thread, files] : search.thread_files(records.rank)) {
    const int main_file = open_files.open(files.first);
    const int overflow = files.second.empty() ? -1 : open_files.open(files.second);
    for (const std::string& name : {files.first, files.second}) {
      if (!name.empty()) process.files.push_back(name);
    }
    records.threads.emplace_back(thread, main_file, overflow, process.journal.facts.has_places());
  }
}

void drop_damaged(const OpenFiles& open_files, Found& process) {
  std::vector<ThreadRecords>& threads = process.records.threads;
  for (ThreadRecords& thread : threads) {
    int file = -1;
    uint64_t at = 0;
    const uint64_t damaged = thread.drop_damaged(file, at);
    if (damaged == 0) continue;
    process.damage.push_back(open_files.name(file) + ": " + std::to_string(damaged) +
                             (damaged == 1 ? " block of records is" : " blocks of records are") +
                             " damaged and left out, the first at byte " + std::to_string(at));
  }
  std::erase_if(threads, [](const ThreadRecords& t) { return t.empty() && t.thread() != 0; });
  if (threads.empty() || threads.front().thread() != 0) threads.emplace(threads.begin(), 0, -1, -1);
}

/// Finds the records of all processes, and leaves out what is damaged.
void read_threads(const RecordSearch& search, OpenFiles& open_files, Share& share,
                  std::map<int, Found>& found) {
  uint64_t bytes = 0;
  for (auto& [rank, process] : found) {
    find_threads(search, open_files, process);
    for (const ThreadRecords& thread : process.records.threads) bytes += thread.bytes();
  }
  share.expect(bytes);
  share.begin(0, kOfChecksums);
  for (auto& [rank, process] : found) {
    for (ThreadRecords& thread : process.records.threads)
      thread.watch([&share](uint64_t read) { share.add(read); });
    drop_damaged(open_files, process);
  }
}

/// The clock of a rank, from its journal and the journals of its ancestors in the tree of clocks.
/// If an ancestor's journal is missing, its clock is assumed to be that of rank 0.
ClockModel clock_of(int rank, const std::map<int, Found>& found, int depth = 0) {
  const auto place = found.find(rank);
  if (place == found.end() || place->second.journal.clock_samples.empty() || depth > 64) return {};
  const Journal& journal = place->second.journal;
  return ClockModel(clock_of(journal.clock_parent, found, depth + 1), journal.clock_samples);
}

/// Ticks per second, from two moments as far apart as there are.
double clock_rate(const Found& process) {
  const ProcessFacts& facts = process.journal.facts;
  if (!facts.tsc) return 1e9;
  Clock::choose(true);
  const ClockPair first{facts.first_ticks, facts.first_monotonic};
  ClockPair last = first;
  if (facts.boot == boot_id() && Clock::tsc_usable()) {
    last = ClockPair::sample();  // the same counter runs on
  } else {
    for (const ThreadRecords& thread : process.records.threads) {
      if (thread.last_ticks() > last.ticks) {
        last = {thread.last_ticks(), thread.last_nanoseconds()};
      }
    }
  }
  const double rate = ticks_per_second(first, last);
  if (std::isfinite(rate) && rate > 1e3 && rate < 1e12) return rate;
  throw RecoverError(process.files.front() + ": it is damaged: the rate of the clock is unknown");
}

/// The facts with the longest list of calls: all processes have the same list, unless it is
/// damaged.
const ProcessFacts& with_most_names(const std::map<int, Found>& found) {
  const auto fewer = [](const auto& a, const auto& b) {
    return a.second.journal.facts.call_names.size() < b.second.journal.facts.call_names.size();
  };
  return std::max_element(found.begin(), found.end(), fewer)->second.journal.facts;
}

/// Ranks of programs that use only sessions have not compared their clocks. On one machine they
/// share one; between machines the offset follows from the times of day, to some milliseconds.
std::vector<ClockOffset> found_offsets(int rank, const std::map<int, Found>& found) {
  const ProcessFacts& first = found.begin()->second.journal.facts;
  const Journal& journal = found.at(rank).journal;
  const ProcessFacts& facts = journal.facts;
  if (!journal.sessions || !journal.clock_samples.empty() || facts.boot == first.boot) {
    return clock_of(rank, found).records(facts.zero);
  }
  const double later =
      static_cast<double>(static_cast<int64_t>(facts.start_realtime - first.start_realtime)) *
      clock_rate(found.begin()->second) / 1e9;
  const auto offset =
      static_cast<int64_t>(first.start_ticks - facts.start_ticks) + static_cast<int64_t>(later);
  return {{facts.zero, offset, 0}, {facts.zero + 1, offset, 0}};
}

std::string where_to_write(const RecoverTask& task, const ProcessFacts& facts) {
  if (!task.output.empty()) {
    if (fs::exists(task.output)) {
      throw RecoverError(task.output + " exists; give another name with -o, or remove it");
    }
    return task.output;
  }
  for (const std::string& directory : task.directories) {
    if (fs::exists(directory + "/" + kIncomplete)) return directory;
  }
  if (fs::exists(facts.output + "/" + kIncomplete)) return facts.output;
  throw RecoverError("where to? Give a name with -o");
}

/// Drops invalid numbers, which readers would refuse.
void sift(ArchiveInfo& info, const std::string& journal, RecoverResult& result) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 60;
  for (uint64_t* limit : {&info.eager_limits.node, &info.eager_limits.network}) {
    if (*limit <= kMostBytes) continue;
    *limit = 0;
    result.missing.push_back(journal + ": an eager limit is damaged, and taken for unknown");
  }
  if (info.overhead.sound(info.ticks_per_second)) return;
  info.overhead = {};
  result.missing.push_back(journal + ": what recording costs is damaged, and taken for nothing");
}

/// Journals may contradict each other, if damaged: those of another rank may give a communicator
/// fewer members.
void limit_peers(const Definitions& definitions, int rank, Translation& translation) {
  for (size_t local = 0; local < translation.global_id.size(); ++local) {
    const uint32_t global = translation.global_id[local];
    if (global == kNone) continue;
    const CommunicatorDefinition& c = definitions.communicators[global];
    const auto& group = definitions.groups[c.group];
    const bool across =
        c.remote_group != kNone && std::find(group.begin(), group.end(), rank) != group.end();
    const size_t peers = c.group == kSelfGroup ? 1
                         : across              ? definitions.groups[c.remote_group].size()
                                               : group.size();
    translation.peers[local] = std::min(translation.peers[local], static_cast<uint32_t>(peers));
  }
  for (size_t local = 0; local < translation.global_window.size(); ++local) {
    const uint32_t global = translation.global_window[local];
    if (global == kNone) continue;
    const uint32_t over = definitions.windows[global].communicator;
    if (over >= definitions.communicators.size()) continue;  // there is no MPI_COMM_SELF
    const CommunicatorDefinition& c = definitions.communicators[over];
    const size_t peers = c.group == kSelfGroup ? 1 : definitions.groups[c.group].size();
    translation.window_peers[local] =
        std::min(translation.window_peers[local], static_cast<uint32_t>(peers));
  }
}

/// The archive's property "complete". Two kinds of programs ended properly although their archive
/// is made here: programs that use only sessions, and programs that reached MPI_Finalize on a full
/// disk.
std::string completeness(const std::map<int, Found>& found, const RecoverResult& result) {
  const auto all = [&](auto is_so) {
    return std::all_of(found.begin(), found.end(),
                       [&](const auto& process) { return is_so(process.second.journal); });
  };
  const bool ended =
      result.in_calls.empty() && all([](const Journal& j) { return j.ended || j.sessions_closed; });
  const char* trouble = "the program did not reach MPI_Finalize";
  if (ended && !all([](const Journal& j) { return !j.ended_early; })) {
    const auto first = std::find_if(found.begin(), found.end(), [](const auto& process) {
      return process.second.journal.ended_early;
    });
    return "false: recovered, recording stopped before the end: " +
           why_stopped(first->second.journal.ended_error);
  } else if (ended) {
    if (result.missing.empty()) return "true";
    trouble = "something is missing";
  } else if (found.begin()->second.journal.sessions) {
    trouble = "the program did not close its MPI sessions";
  }
  return std::string("false: recovered, ") + trouble;
}

/// The files and directories of an archive.
std::vector<std::string> parts_of(const std::string& output) {
  return {output + "/traces.otf2", output + "/traces", output + "/traces.def"};
}

/// Removes the output of an earlier attempt that failed or lacked records.
void clear(const std::string& output) {
  for (const std::string& part : parts_of(output)) fs::remove_all(part);
}

/// Writes the archive; false on failure.
bool write(const std::string& output, const ArchiveInfo& info, const std::string& complete,
           const std::vector<ProcessReport>& reports, const std::vector<ProcessRecords>& records,
           std::vector<RankSummary>& ranks) {
  silence_otf2();
  Numbering numbering;
  Definitions definitions = arrange(reports, numbering);
  ContextTable contexts;
  std::vector<ContextNumbers> paths;
  for (const ProcessReport& report : reports)
    paths.push_back(add_contexts(report, numbering, contexts));
  definitions.contexts = contexts.list();
  std::vector<Translation> translations;
  for (size_t i = 0; i < reports.size(); ++i) {
    translations.push_back(translate(reports[i], numbering));
    limit_peers(definitions, records[i].rank, translations.back());
    translations.back().counters = counter_names(info.counters).size();
    translations.back().context = std::move(paths[i]);
    translations.back().contexts = definitions.contexts;
  }
  OTF2_Archive* archive = open_archive(output, Writer::kFirst);
  if (archive == nullptr) return false;
  auto written = write_locations(archive, records, translations);
  if (written.empty()) return false;
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].locations = std::move(written[i]);
    ranks[i].topologies = translated(reports[i].topologies, translations[i]);
  }
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
  return writer != nullptr && write_definitions(writer, info, definitions, numbering, ranks) &&
         OTF2_Archive_CloseGlobalDefWriter(archive, writer) == OTF2_SUCCESS &&
         write_properties(archive, info, definitions, {}, complete) &&
         OTF2_Archive_Close(archive) == OTF2_SUCCESS && !otf2_failed;
}

}  // namespace

RecoverResult recover(const RecoverTask& task) {
  RecordSearch search(task.directories);
  std::map<int, Found> found = search.find();
  const Journal& first_journal = found.begin()->second.journal;
  const ProcessFacts& first = first_journal.facts;
  RecoverResult result;
  result.output = where_to_write(task, first);
  result.ranks = first.size;
  result.recovered = static_cast<int>(found.size());

  OpenFiles open_files;
  Share share(task.progress);
  read_threads(search, open_files, share, found);
  share.begin(kOfChecksums, kOfSummaries);
  uint64_t last = 0;
  for (auto& [rank, process] : found) {
    process.records.offsets = found_offsets(rank, found);
    if (process.journal.facts.tsc != first.tsc) {
      result.missing.push_back("rank " + std::to_string(rank) +
                               " had another kind of clock than "
                               "rank " +
                               std::to_string(first.rank) + ", its times are useless");
    }
  }
  const ProcessFacts& names = with_most_names(found);
  std::vector<ProcessReport> reports;
  std::vector<ProcessRecords> records;
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < first.size; ++rank) {
    const auto place = found.find(rank);
    if (place == found.end()) {
      result.missing.push_back("rank " + std::to_string(rank) +
                               " has no records: " + search.place_of(rank));
      ProcessRecords none;
      none.rank = rank;
      none.threads.emplace_back(0, -1, -1);
      none.offsets = {{0, 0, 0}, {1, 0, 0}};
      reports.emplace_back();
      records.push_back(std::move(none));
      ranks.push_back({search.host_of(rank), {}, {}, {}, {}});
      continue;
    }
    Found& process = place->second;
    ProcessReport report = process.journal.report;
    Used used;
    used.calls.resize(names.call_names.size());
    used.call_paths = process.journal.facts.call_paths;
    for (const ThreadRecords& thread : process.records.threads) {
      process.summaries.push_back(summarise(thread, process.records.zero, used));
      const ThreadSummary& summary = process.summaries.back();
      if (!summary.read) {
        throw RecoverError("rank " + std::to_string(rank) +
                           ": its records cannot be read: " + std::strerror(errno));
      }
      OpenEnds& ends = process.records.ends;
      if (summary.first != 0) ends.program_begin = std::min(ends.program_begin, summary.first);
      ends.program_end = std::max(ends.program_end, summary.last);
      last = std::max(last, corrected(summary.last, process.records.offsets));
      if (summary.open_call >= 0) {
        result.in_calls.push_back(
            "rank " + std::to_string(rank) +
            (thread.thread() == 0 ? "" : " thread " + std::to_string(thread.thread())) +
            " was in " + names.call_names[static_cast<size_t>(summary.open_call)]);
      }
      if (thread.missing_segments() > 0) {
        result.missing.push_back("rank " + std::to_string(rank) + " lacks " +
                                 std::to_string(thread.missing_segments()) +
                                 " blocks of its records");
      }
    }
    result.missing.insert(result.missing.end(), process.damage.begin(), process.damage.end());
    if (const size_t damaged = process.journal.damaged; damaged > 0) {
      result.missing.push_back(process.files.front() + ": " + std::to_string(damaged) +
                               " entries are damaged");
    }
    used.leave_out_unknown_threads();
    report.used = used.calls;
    report.threads = used.threads;
    name_code(used, process.journal.modules, process.journal.facts.function_filter, report);
    reports.push_back(std::move(report));
    records.push_back(process.records);
    ranks.push_back({process.journal.facts.host, process.journal.facts.processors, {}, {}, {}});
  }
  // The end of the job, on the clock of each rank.
  for (ProcessRecords& process : records) {
    process.ends.call = last - (corrected(last, process.offsets) - last);
    process.ends.functions = process.ends.call;
  }

  ArchiveInfo info;
  info.command = first.command;
  info.mpi_library = first.mpi_library;
  info.ticks_per_second = clock_rate(found.begin()->second);
  info.start_ticks = first.start_ticks;
  info.start_realtime = first.start_realtime;
  info.overhead = first.overhead;
  info.function_hooks = static_cast<FunctionHooks>(first.function_hooks);
  info.sample_period = first.sample_period;
  info.eager_limits = first.eager_limits;
  if (counter_names(first.counters).size() <= kMaxCounters) info.counters = first.counters;
  info.call_names = names.call_names;
  info.call_roles = names.call_roles;
  sift(info, found.begin()->second.files.front(), result);
  std::string complete = completeness(found, result);
  if (!result.missing.empty()) {
    complete += "; " + std::to_string(result.missing.size()) +
                " things are missing, the first: " + result.missing.front();
  }

  const bool here = fs::exists(result.output);
  if (task.incomplete) task.incomplete(here ? parts_of(result.output) : std::vector{result.output});
  if (here) clear(result.output);
  share.begin(kOfChecksums + kOfSummaries, kOfEvents);
  if (!write(result.output, info, complete, reports, records, ranks)) {
    if (here) {
      clear(result.output);
    } else {
      fs::remove_all(result.output);
    }
    const WriteTrouble trouble = write_trouble(otf2_error);
    throw RecoverError(result.output + ": writing failed; " + trouble.cause +
                       " Nothing is lost: " + trouble.remedy +
                       (trouble.remedy.empty() ? "" : ", or ") + "give another name with -o");
  }
  if (task.progress) task.progress(1);
  if (task.incomplete) task.incomplete({});
  uint64_t begin = UINT64_MAX, end = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const LocationSummary& location : ranks[rank].locations) {
      if (location.damaged > 0) {
        result.missing.push_back(
            "rank " + std::to_string(rank) + ": " + std::to_string(location.damaged) +
            " records are damaged and left out: they name ranks or operations that there are not");
      }
      if (location.backwards > 0) {
        result.missing.push_back("rank " + std::to_string(rank) + ": " +
                                 std::to_string(location.backwards) +
                                 " times are damaged: they run backwards, and are those before");
      }
      result.events += location.events;
      if (location.events == 0) continue;
      begin = std::min(begin, location.first);
      end = std::max(end, location.last);
    }
  }
  if (end > begin) result.seconds = static_cast<double>(end - begin) / info.ticks_per_second;

  std::error_code error;
  const std::string note = result.output + "/" + kIncomplete;
  result.kept = task.keep || result.recovered < result.ranks;
  if (result.recovered == result.ranks) {
    fs::remove(note, error);
    fs::remove(result.output + "/" + kAborted, error);
  } else if (fs::is_regular_file(note) && !recovered_in_part(result.output)) {
    std::ofstream(note, std::ios::app) << kInPart << "\n";
  }
  if (!result.kept) {
    for (const auto& [rank, process] : found) {
      for (const std::string& file : process.files) {
        if (fs::remove(file, error) || !error) continue;
        result.missing.push_back(file + " is left: " + error.message());
      }
    }
    std::error_code ignored;  // directories that hold something else stay
    for (const std::string& directory : search.directories()) {
      if (directory != result.output) fs::remove(directory, ignored);
    }
  }
  return result;
}

}  // namespace tracing
}  // namespace rubato
