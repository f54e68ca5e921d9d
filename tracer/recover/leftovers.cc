#include "tracer/recover/leftovers.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

#include "tracer/archive/archive_files.h"
#include "tracer/base/clock.h"
#include "tracer/layout/journal.h"
#include "tracer/recover/record_search.h"
#include "tracer/recover/recover.h"

namespace fs = std::filesystem;

namespace rubato {
inline namespace tracing {
namespace {

using LockedFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The file in which processes of this user met in MPI_Init (roll_call.h), of a job that ended
/// there: each that lives has a lock on it. None can begin to use it while the result is open.
/// Null: it is no such file.
LockedFile left_roll_call(const fs::path& path) {
  const std::string prefix = "rubato-roll-call-" + std::to_string(geteuid()) + "-";
  LockedFile file(nullptr, std::fclose);
  struct stat named {
  }, opened{};
  if (!path.filename().string().starts_with(prefix) || lstat(path.c_str(), &named) != 0 ||
      !S_ISREG(named.st_mode) || named.st_uid != geteuid())
    return file;
  file.reset(std::fopen(path.c_str(), "re"));
  // Another job may have replaced it before the lock.
  if (file != nullptr &&
      (flock(fileno(file.get()), LOCK_EX | LOCK_NB) != 0 ||
       fstat(fileno(file.get()), &opened) != 0 || lstat(path.c_str(), &named) != 0 ||
       opened.st_ino != named.st_ino || opened.st_dev != named.st_dev))
    file.reset();
  return file;
}

/// "rubato-USER-NUMBER", the tracer's name for a directory of this user's records.
bool is_record_directory(const fs::path& path) {
  const std::string prefix = "rubato-" + std::to_string(geteuid()) + "-";
  const std::string name = path.filename().string();
  struct stat info;
  return name.starts_with(prefix) && name.size() == prefix.size() + 12 &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string::npos &&
         lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

bool is_record_file(const fs::path& path) {
  return path.extension() == ".journal" || path.extension() == ".records";
}

/// Containers of one machine share its boot id, even if their host names differ.
RecordState state_of(const Journal& journal, const std::string& host) {
  if (still_runs(journal)) return RecordState::kRunning;
  return journal.facts.boot == boot_id() || journal.facts.host == host ? RecordState::kEnded
                                                                       : RecordState::kElsewhere;
}

std::string this_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Leftover look_at(const fs::path& directory) {
  Leftover found;
  found.directory = directory.string();
  const std::string host = this_host();
  std::set<RecordState> states;
  std::error_code ignored;
  struct stat info {};
  if (stat(directory.c_str(), &info) == 0) found.last_use = info.st_mtime;
  if (S_ISREG(info.st_mode)) {
    found.state = RecordState::kRollCall;
    found.bytes = static_cast<uint64_t>(info.st_blocks) * 512;
    return found;
  }
  for (auto entry = fs::directory_iterator(directory, ignored); entry != fs::end(entry);
       entry.increment(ignored)) {
    const fs::path& path = entry->path();
    if (!is_record_file(path) || lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    // Segments moved to the disk of the output are holes.
    found.bytes += static_cast<uint64_t>(info.st_blocks) * 512;
    found.last_use = std::max(found.last_use, static_cast<int64_t>(info.st_mtime));
    Journal journal;
    std::string reason;
    if (path.extension() != ".journal") continue;
    if (!read_journal(path.string(), journal, reason)) {
      states.insert(RecordState::kUnknown);
      continue;
    }
    states.insert(state_of(journal, host));
    found.ranks.push_back(journal.facts.rank);
    found.size = journal.facts.size;
    found.host = journal.facts.host;
    found.command = journal.facts.command;
    found.output = journal.facts.output;
  }
  std::sort(found.ranks.begin(), found.ranks.end());
  // One live process is enough; an unreadable journal among others belongs to a dead process.
  for (const RecordState state : {RecordState::kRunning, RecordState::kElsewhere,
                                  RecordState::kEnded, RecordState::kUnknown}) {
    if (states.count(state) == 0) continue;
    found.state = state;
    break;
  }
  return found;
}

void add_directories_in(const fs::path& place, std::set<std::string>& directories) {
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(place, ignored); entry != fs::end(entry);
       entry.increment(ignored)) {
    if (is_record_directory(entry->path()) || left_roll_call(entry->path()) != nullptr)
      directories.insert(fs::canonical(entry->path(), ignored).string());
  }
}

/// Removes a file, and returns how much that frees.
uint64_t remove_file(const std::string& name) {
  struct stat info;
  const bool known = lstat(name.c_str(), &info) == 0;
  std::error_code error;
  if (!fs::remove(name, error) && error) throw RecoverError(name + ": " + error.message());
  return known ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

/// The archive that was to be made of such records: it is given, or they name it, and its note
/// names them.
std::string archive_of(const std::string& directory, const std::string& output) {
  if (fs::exists(directory + "/" + kIncomplete)) return directory;
  std::ifstream note(output + "/" + kIncomplete);
  for (std::string line; std::getline(note, line);) {
    if (line.starts_with("records ") && line.find(" " + directory + ": ") != std::string::npos)
      return output;
  }
  return "";
}

/// A directory without a journal.
uint64_t discard_useless(const Leftover& left) {
  constexpr int64_t kAge = 60;
  if (std::time(nullptr) - left.last_use < kAge) {
    throw RecoverError(left.directory +
                       " has no journal that can be read, and may be of a job that begins; discard "
                       "it in a minute");
  }
  uint64_t bytes = 0;
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(left.directory, ignored)) {
    if (is_record_file(entry.path())) files.push_back(entry.path().string());
  }
  for (const std::string& file : files) bytes += remove_file(file);
  fs::remove(left.directory, ignored);
  return bytes;
}

/// Removes the parts of an archive that has no records left.
void remove_begun(const std::string& archive) {
  std::error_code ignored;
  for (const char* part : {"/traces.otf2", "/traces", "/traces.def"})
    fs::remove_all(archive + part, ignored);
  fs::remove(archive + "/" + kOverflow, ignored);
  for (const char* note : {kAborted, kIncomplete}) fs::remove(archive + "/" + note, ignored);
  fs::remove(archive, ignored);
}

}  // namespace

std::vector<Leftover> find_leftovers(const std::vector<std::string>& places) {
  std::set<std::string> directories;
  const char* temporary = std::getenv("TMPDIR");
  for (const char* place : {"/dev/shm", temporary, "/tmp"}) {
    if (place != nullptr && *place != '\0') add_directories_in(place, directories);
  }
  for (const std::string& place : places) {
    std::error_code error;
    const fs::path path = fs::canonical(place, error);
    if (error || !fs::is_directory(path, error)) throw RecoverError(place + ": no such directory");
    if (is_record_directory(path)) directories.insert(path.string());
    add_directories_in(path, directories);
  }
  std::vector<Leftover> found;
  for (const std::string& directory : directories) found.push_back(look_at(directory));
  std::stable_sort(found.begin(), found.end(),
                   [](const Leftover& a, const Leftover& b) { return a.last_use < b.last_use; });
  return found;
}

uint64_t discard_records(const std::string& directory) {
  std::error_code error;
  const std::string given = fs::canonical(directory, error).string();
  if (error) throw RecoverError(directory + ": no such directory");
  if (const LockedFile lock = left_roll_call(given)) return remove_file(given);
  const Leftover left = look_at(given);
  if (is_record_directory(given) && left.state == RecordState::kUnknown)
    return discard_useless(left);
  const std::string archive = archive_of(given, left.output);
  std::vector<std::string> where = {given};
  if (!archive.empty() && archive != given) where.push_back(archive);
  RecordSearch search(where);
  std::map<int, Found> found = search.find();
  const std::string host = this_host();
  for (const auto& [rank, process] : found) {
    if (state_of(process.journal, host) != RecordState::kElsewhere) continue;
    throw RecoverError(given + " was recorded on " + process.journal.facts.host +
                       "; discard it there, or remove the directory if that machine is gone");
  }
  const int ranks = found.begin()->second.journal.facts.size;
  uint64_t bytes = 0;
  for (const auto& [rank, process] : found) {
    for (const std::string& file : process.files) bytes += remove_file(file);
    for (const auto& [thread, files] : search.thread_files(rank)) {
      for (const std::string& file : {files.first, files.second}) {
        if (!file.empty()) bytes += remove_file(file);
      }
    }
  }
  std::error_code ignored;  // directories that hold something else stay
  for (const std::string& each : search.directories()) {
    if (each != archive) fs::remove(each, ignored);
  }
  // Records of other ranks may be on other nodes, which the note names.
  if (!archive.empty() && static_cast<int>(found.size()) == ranks) remove_begun(archive);
  return bytes;
}

}  // namespace tracing
}  // namespace rubato
