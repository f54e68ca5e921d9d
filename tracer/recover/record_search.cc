#include "tracer/recover/record_search.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace fs = std::filesystem;

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

/// Regular files with that extension; opening a pipe would block.
std::vector<std::string> names_in(const std::string& directory, const std::string& kind) {
  std::vector<std::string> names;
  std::error_code error, ignored;
  for (auto entry = fs::directory_iterator(directory, error); entry != fs::end(entry);
       entry.increment(error)) {
    if (entry->path().extension() == kind && entry->is_regular_file(ignored))
      names.push_back(entry->path().string());
  }
  if (error) throw RecoverError(directory + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool holds_records_of(const std::string& directory, const std::string& output) {
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(directory, ignored); entry != fs::end(entry);
       entry.increment(ignored)) {
    Journal journal;
    std::string reason;
    if (entry->path().extension() != ".journal" || !entry->is_regular_file(ignored) ||
        !read_journal(entry->path(), journal, reason))
      continue;
    return fs::equivalent(journal.facts.output, output, ignored);
  }
  return false;
}

std::ifstream open_note(const std::string& directory) {
  const std::string name = directory + "/" + kIncomplete;
  return fs::is_regular_file(name) ? std::ifstream(name) : std::ifstream();
}

}  // namespace

bool recovered_in_part(const std::string& directory) {
  std::ifstream file = open_note(directory);
  std::string line;
  while (std::getline(file, line)) {
    if (line == kInPart) return true;
  }
  return false;
}

std::vector<RecordSearch::Place> RecordSearch::read_note(const std::string& directory) {
  std::vector<Place> places;
  std::ifstream file = open_note(directory);
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

RecordSearch::RecordSearch(const std::vector<std::string>& directories) {
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

std::map<int, Found> RecordSearch::find() {
  std::map<int, Found> found;
  std::string reason;
  uint64_t job = 0;
  int size = 0;
  std::string first;
  for (const std::string& directory : directories_) {
    for (const std::string& name : names_in(directory, ".journal")) {
      const auto number = number_before(fs::path(name).filename().string(), ".journal");
      if (!number) continue;
      const int rank = static_cast<int>(*number);
      Found process;
      bool good = read_journal(name, process.journal, reason);
      const ProcessFacts& facts = process.journal.facts;
      if (good && first.empty() && facts.rank == rank) {
        first = name;
        job = facts.job;
        size = facts.size;
      }
      if (good && facts.rank == rank && facts.job != job) {
        throw RecoverError(name + ": records of another job than " + first +
                           "; give one job at a time");
      }
      if (good && (facts.rank != rank || facts.size != size)) {
        good = false;
        reason = "it is damaged";
      }
      if (!good) {
        bad_.emplace(rank, name + ": " + reason);
        continue;
      }
      process.files.push_back(name);
      found.emplace(rank, std::move(process));
    }
  }
  if (found.empty()) throw RecoverError(bad_.empty() ? nothing() : bad_.begin()->second);
  for (const auto& [rank, process] : found) {
    if (still_runs(process.journal)) {
      throw RecoverError("rank " + std::to_string(rank) + " (process " +
                         std::to_string(process.journal.facts.pid) +
                         ") still runs; recover its trace when it has ended");
    }
  }
  return found;
}

std::map<uint32_t, std::pair<std::string, std::string>> RecordSearch::thread_files(int rank) const {
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

std::string RecordSearch::place_of(int rank) const {
  const auto bad = bad_.find(rank);
  if (bad != bad_.end()) return bad->second;
  const Place* place = find_place(rank);
  if (place == nullptr) return "their location is unknown";
  return place->directory == "-" ? place->host + " kept them in memory; they are lost"
                                 : "they were in " + place->directory + " on " + place->host +
                                       "; copy that directory here and name it too";
}

std::string RecordSearch::host_of(int rank) const {
  const Place* place = find_place(rank);
  return place == nullptr ? "unknown" : place->host;
}

const RecordSearch::Place* RecordSearch::find_place(int rank) const {
  for (const Place& place : places_) {
    for (const int r : place.ranks) {
      if (r == rank) return &place;
    }
  }
  return nullptr;
}

void RecordSearch::add(const std::string& directory) {
  std::error_code ignored;
  const auto is_same = [&](const std::string& other) {
    return fs::equivalent(directory, other, ignored);
  };
  if (fs::is_directory(directory) &&
      std::none_of(directories_.begin(), directories_.end(), is_same))
    directories_.push_back(directory);
}

void RecordSearch::add_records_of(const std::string& output) {
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

std::string RecordSearch::nothing() const {
  std::string text = "no records here";
  for (const Place& place : places_) {
    text += "; there may be some in " + place.directory + " on " + place.host;
  }
  return text;
}

}  // namespace tracing
}  // namespace rubato
