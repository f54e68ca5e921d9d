#include "tracer/recover.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "tracer/archive_definitions.h"
#include "tracer/archive_files.h"
#include "tracer/clock.h"
#include "tracer/code_places.h"
#include "tracer/journal.h"

namespace fs = std::filesystem;

/// One process does here what all ranks do at MPI_Finalize (archive_writer.cc), with what their
/// journals say in place of what they would have said over MPI. Two things have to be made up: the
/// rate of the clock where it was not measured a second time, and the end of calls in which a
/// process died; they end with the last time stamp of the job.
namespace rubato {
inline namespace tracing {
namespace {

/// The number that a name begins with, if `end` follows it and nothing else.
std::optional<uint32_t> number_before(const std::string& name, const std::string& end) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || rest != name.data() + name.size() - end.size()) return {};
  return name.ends_with(end) ? std::optional(number) : std::nullopt;
}

/// What was found of one rank.
struct Found {
  Journal journal;
  std::vector<std::string> damage;  ///< a line for each file with damaged blocks
  std::vector<std::string> files;   ///< of the threads, and the journal
  ProcessRecords records;
  std::vector<ThreadSummary> summaries;
};

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
    return file;
  }

 private:
  std::vector<int> files_;
};

/// The lines "records HOST DIR: ranks" of a file INCOMPLETE.
struct Place {
  std::string host;
  std::string directory;
  std::vector<int> ranks;
};

/// A line that a file INCOMPLETE gets when the archive beside it lacks ranks whose records may
/// still turn up.
constexpr char kInPart[] = "recovered in part";

bool recovered_in_part(const std::string& directory) {
  std::ifstream file(directory + "/" + kIncomplete);
  std::string line;
  while (std::getline(file, line)) {
    if (line == kInPart) return true;
  }
  return false;
}

std::vector<Place> read_note(const std::string& directory) {
  std::vector<Place> places;
  std::ifstream file(directory + "/" + kIncomplete);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("records ", 0) != 0) continue;
    const size_t host_end = line.find(' ', 8);
    const size_t colon = line.rfind(": ");
    if (host_end == std::string::npos || colon == std::string::npos || colon < host_end) continue;
    Place place{line.substr(8, host_end - 8), line.substr(host_end + 1, colon - host_end - 1), {}};
    std::istringstream ranks(line.substr(colon + 2));
    for (int rank; ranks >> rank;) place.ranks.push_back(rank);
    places.push_back(std::move(place));
  }
  return places;
}

/// Looks for records in the given directories and in the directories that their notes name.
class Search {
 public:
  explicit Search(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
      if (!fs::is_directory(directory)) {
        throw RecoverError(directory + ": no such directory");
      }
      if (fs::exists(directory + "/traces.otf2") && !recovered_in_part(directory)) {
        throw RecoverError(directory + " holds a whole archive; there is nothing to recover");
      }
      add(directory);
      add(directory + "/" + kOverflow);
      const std::vector<Place> places = read_note(directory);
      for (const Place& place : places) {
        add(place.directory);
        places_.push_back(place);
      }
      // Where the disk was full from the start, the note is empty.
      if (places.empty() && fs::exists(directory + "/" + kIncomplete)) add_records_of(directory);
    }
  }

  /// Journals by rank.
  std::map<int, Found> find() {
    std::map<int, Found> found;
    std::string reason;
    uint64_t job = 0;
    std::string first;
    for (const std::string& directory : directories_) {
      for (const std::string& name : names_in(directory, ".journal")) {
        const auto number = number_before(fs::path(name).filename().string(), ".journal");
        if (!number) continue;
        const int rank = static_cast<int>(*number);
        Found process;
        bool good = read_journal(name, process.journal, reason);
        if (good && process.journal.facts.rank != rank) {
          good = false;
          reason = "it is damaged";
        }
        if (!good) {
          bad_.emplace(rank, name + ": " + reason);
          continue;
        }
        if (first.empty()) {
          first = name;
          job = process.journal.facts.job;
        }
        if (process.journal.facts.job != job) {
          throw RecoverError(name + ": records of another job than " + first +
                             "; give one job at a time");
        }
        process.files.push_back(name);
        found.emplace(rank, std::move(process));
      }
    }
    if (found.empty()) throw RecoverError(bad_.empty() ? nothing() : bad_.begin()->second);
    for (const auto& [rank, process] : found) {
      if (process.journal.alive) {
        throw RecoverError("rank " + std::to_string(rank) + " (process " +
                           std::to_string(process.journal.facts.pid) +
                           ") still runs; recover its trace when it has ended");
      }
    }
    return found;
  }

  /// The thread files of a rank: thread to main file and overflow file, either may be empty.
  std::map<uint32_t, std::pair<std::string, std::string>> thread_files(int rank) const {
    std::map<uint32_t, std::pair<std::string, std::string>> files;
    const std::string prefix = std::to_string(rank) + ".";
    for (const std::string& directory : directories_) {
      for (const std::string& name : names_in(directory, ".records")) {
        const std::string base = fs::path(name).filename().string();
        if (base.rfind(prefix, 0) != 0) continue;
        const auto thread = number_before(base.substr(prefix.size()), ".records");
        if (!thread) continue;
        auto& pair = files[*thread];
        (pair.first.empty() ? pair.first : pair.second) = name;
      }
    }
    return files;
  }

  /// Where the records of a rank should be, or what is wrong with them.
  std::string place_of(int rank) const {
    const auto bad = bad_.find(rank);
    if (bad != bad_.end()) return bad->second;
    const Place* place = find_place(rank);
    if (place == nullptr) return "nobody knows where they were";
    return place->directory == "-" ? place->host + " kept them in memory; they are lost"
                                   : "they were in " + place->directory + " on " + place->host +
                                         "; copy that directory here and name it too";
  }

  std::string host_of(int rank) const {
    const Place* place = find_place(rank);
    return place == nullptr ? "unknown" : place->host;
  }

  const std::vector<std::string>& directories() const { return directories_; }

 private:
  const Place* find_place(int rank) const {
    for (const Place& place : places_) {
      for (const int r : place.ranks) {
        if (r == rank) return &place;
      }
    }
    return nullptr;
  }

  void add(const std::string& directory) {
    if (fs::is_directory(directory)) directories_.push_back(directory);
  }

  /// Directories where the tracer puts records when it is not told, with those of an archive that
  /// was to be `output`.
  void add_records_of(const std::string& output) {
    std::error_code ignored;
    const char* temporary = std::getenv("TMPDIR");
    const std::string ours = "rubato-" + std::to_string(geteuid()) + "-";
    for (const char* place : {"/dev/shm", temporary ? temporary : "/tmp"}) {
      for (auto entry = fs::directory_iterator(place, ignored); entry != fs::end(entry);
           entry.increment(ignored)) {
        if (!entry->path().filename().string().starts_with(ours)) continue;
        const std::string directory = entry->path().string();
        if (holds_records_of(directory, output)) add(directory);
      }
    }
  }

  static bool holds_records_of(const std::string& directory, const std::string& output) {
    std::error_code ignored;
    for (auto entry = fs::directory_iterator(directory, ignored); entry != fs::end(entry);
         entry.increment(ignored)) {
      Journal journal;
      std::string reason;
      if (entry->path().extension() != ".journal" || !read_journal(entry->path(), journal, reason))
        continue;
      return fs::equivalent(journal.facts.output, output, ignored);
    }
    return false;
  }

  static std::vector<std::string> names_in(const std::string& directory, const std::string& kind) {
    std::vector<std::string> names;
    std::error_code error;
    for (auto entry = fs::directory_iterator(directory, error); entry != fs::end(entry);
         entry.increment(error)) {
      if (entry->path().extension() == kind) names.push_back(entry->path().string());
    }
    if (error) throw RecoverError(directory + ": " + error.message());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string nothing() const {
    std::string text = "no records here";
    for (const Place& place : places_) {
      text += "; there may be some in " + place.directory + " on " + place.host;
    }
    return text;
  }

  std::vector<std::string> directories_;
  std::vector<Place> places_;
  std::map<int, std::string> bad_;  ///< journals that cannot be used, and why
};

void read_threads(const Search& search, OpenFiles& open_files, Found& process) {
  ProcessRecords& records = process.records;
  records.rank = process.journal.facts.rank;
  records.zero = process.journal.facts.zero;
  for (const auto& [thread, files] : search.thread_files(records.rank)) {
    const int main_file = open_files.open(files.first);
    const int overflow = files.second.empty() ? -1 : open_files.open(files.second);
    for (const std::string& name : {files.first, files.second}) {
      if (!name.empty()) process.files.push_back(name);
    }
    ThreadRecords of_thread(thread, main_file, overflow, process.journal.facts.call_sites);
    int damaged_file = -1;
    uint64_t at = 0;
    if (const uint64_t damaged = of_thread.drop_damaged(damaged_file, at); damaged > 0) {
      process.damage.push_back((damaged_file == main_file ? files.first : files.second) + ": " +
                               std::to_string(damaged) +
                               (damaged == 1 ? " block of records is" : " blocks of records are") +
                               " damaged and left out, the first at byte " + std::to_string(at));
    }
    if (!of_thread.empty() || thread == 0) records.threads.push_back(std::move(of_thread));
  }
  if (records.threads.empty()) records.threads.emplace_back(0, -1, -1);
}

/// The clock of a rank as its journal and those above it in the tree of clocks tell it. Where the
/// journal of one above is missing, its clock is taken for that of rank 0.
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

/// All processes of a job know the same calls, unless the list of one is damaged.
const ProcessFacts& with_most_names(const std::map<int, Found>& found) {
  const auto fewer = [](const auto& a, const auto& b) {
    return a.second.journal.facts.call_names.size() < b.second.journal.facts.call_names.size();
  };
  return std::max_element(found.begin(), found.end(), fewer)->second.journal.facts;
}

/// Ranks of programs of sessions alone have not compared their clocks. On one machine they share
/// one; others are as far apart as the times of day say, which is good to some milliseconds.
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

/// What the archive says of itself. Programs of sessions alone end properly and have their archive
/// made here all the same, and so have those that reached MPI_Finalize on a full disk.
std::string completeness(const std::map<int, Found>& found, const RecoverResult& result) {
  const auto all = [&](auto is_so) {
    return std::all_of(found.begin(), found.end(),
                       [&](const auto& process) { return is_so(process.second.journal); });
  };
  const bool ended =
      result.in_calls.empty() && all([](const Journal& j) { return j.ended || j.sessions_closed; });
  const char* trouble = "the program did not reach MPI_Finalize";
  if (ended && !all([](const Journal& j) { return !j.ended_early; })) {
    trouble = "recording stopped before the end, as there was no more room for records";
  } else if (ended) {
    if (result.missing.empty()) return "true";
    trouble = "something is missing";
  } else if (found.begin()->second.journal.sessions) {
    trouble = "the program did not close its MPI sessions";
  }
  return std::string("false: recovered, ") + trouble;
}

/// What an earlier attempt to write left, or one that had not all records.
void clear(const std::string& output) {
  fs::remove(output + "/traces.otf2");
  fs::remove_all(output + "/traces");
  fs::remove(output + "/traces.def");
}

/// Everything goes into the archive; false when it cannot be written.
bool write(const std::string& output, const ArchiveInfo& info, const std::string& complete,
           const std::vector<ProcessReport>& reports, const std::vector<ProcessRecords>& records,
           std::vector<RankSummary>& ranks) {
  silence_otf2();
  Numbering numbering;
  const Definitions definitions = arrange(reports, numbering);
  std::vector<Translation> translations;
  for (const ProcessReport& report : reports) {
    translations.push_back(translate(report, numbering));
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
         write_properties(archive, info, complete) && OTF2_Archive_Close(archive) == OTF2_SUCCESS &&
         !otf2_failed;
}

}  // namespace

RecoverResult recover(const RecoverTask& task) {
  Search search(task.directories);
  std::map<int, Found> found = search.find();
  const Journal& first_journal = found.begin()->second.journal;
  const ProcessFacts& first = first_journal.facts;
  RecoverResult result;
  result.output = where_to_write(task, first);
  result.ranks = first.size;
  result.recovered = static_cast<int>(found.size());

  OpenFiles open_files;
  uint64_t last = 0;
  for (auto& [rank, process] : found) {
    read_threads(search, open_files, process);
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
      ranks.push_back({search.host_of(rank), {}, {}, {}});
      continue;
    }
    Found& process = place->second;
    ProcessReport report = process.journal.report;
    Used used;
    used.calls.resize(names.call_names.size());
    for (const ThreadRecords& thread : process.records.threads) {
      process.summaries.push_back(summarise(thread, process.records.zero, used));
      const ThreadSummary& summary = process.summaries.back();
      if (!summary.read) {
        throw RecoverError("rank " + std::to_string(rank) +
                           ": its records cannot be read: " + std::strerror(errno));
      }
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
    ranks.push_back({process.journal.facts.host, process.journal.facts.processors, {}, {}});
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
  info.eager_limits = first.eager_limits;
  info.call_names = names.call_names;
  info.call_roles = names.call_roles;
  std::string complete = completeness(found, result);
  if (!result.missing.empty()) {
    complete += "; " + std::to_string(result.missing.size()) +
                " things are missing, the first: " + result.missing.front();
  }

  const bool here = fs::exists(result.output);
  if (here) clear(result.output);
  if (!write(result.output, info, complete, reports, records, ranks)) {
    if (here) {
      clear(result.output);
    } else {
      fs::remove_all(result.output);
    }
    throw RecoverError(result.output +
                       ": writing failed; is the disk full? Nothing is lost: make room, or give "
                       "another name with -o");
  }
  uint64_t begin = UINT64_MAX, end = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const LocationSummary& location : ranks[rank].locations) {
      if (location.damaged > 0) {
        result.missing.push_back(
            "rank " + std::to_string(rank) + ": " + std::to_string(location.damaged) +
            " records are damaged and left out: they name ranks or operations that there are not");
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
  } else if (fs::exists(note) && !recovered_in_part(result.output)) {
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
