#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tracer/archive/archive_files.h"
#include "tracer/layout/journal.h"
#include "tracer/recover/recover.h"

/// Where the records of a killed job are.
namespace rubato {
inline namespace tracing {

/// The files found of one rank.
struct Found {
  Journal journal;
  std::vector<std::string> damage;  ///< a line for each file with damaged blocks
  std::vector<std::string> files;   ///< of the threads, and the journal
  ProcessRecords records;
  std::vector<ThreadSummary> summaries;
};

/// A line that a file INCOMPLETE gets when the archive beside it lacks ranks whose records may
/// still turn up.
inline constexpr char kInPart[] = "recovered in part";
bool recovered_in_part(const std::string& directory);

/// Looks for records in the given directories and in the directories that their notes name. Throws
/// RecoverError.
class RecordSearch {
 public:
  explicit RecordSearch(const std::vector<std::string>& directories);

  /// Journals by rank.
  std::map<int, Found> find();
  /// The thread files of a rank: thread to main file and overflow file, either may be empty.
  std::map<uint32_t, std::pair<std::string, std::string>> thread_files(int rank) const;
  /// Where the records of a rank should be, or what is wrong with them.
  std::string place_of(int rank) const;
  std::string host_of(int rank) const;
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  /// The lines "records HOST DIR: ranks" of a file INCOMPLETE.
  struct Place {
    std::string host;
    std::string directory;
    std::vector<int> ranks;
  };

  static std::vector<Place> read_note(const std::string& directory);
  const Place* find_place(int rank) const;
  void add(const std::string& directory);
  /// Adds the default directories of records that hold those of the archive `output`.
  void add_records_of(const std::string& output);
  std::string nothing() const;

  std::vector<std::string> directories_;
  std::vector<Place> places_;
  std::map<int, std::string> bad_;  ///< journals that cannot be used, and why
};

}  // namespace tracing
}  // namespace rubato
