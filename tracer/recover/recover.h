#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/// Makes an archive of the records of a job that did not reach MPI_Finalize, or could not write it.
namespace rubato {
inline namespace tracing {

/// The records cannot be used; the text has the reason and a remedy.
struct RecoverError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RecoverTask {
  /// Directories with records, or of the archive that was to be (it names those with records).
  std::vector<std::string> directories;
  std::string output;  ///< empty: where the archive was to be
  bool keep = false;   ///< leave the records where they are

  /// If set, called now and then with the share done, 0 to 1.
  std::function<void(double)> progress = {};
  /// If set, called with the files and directories that make half an archive if the process is
  /// interrupted from here on; and with none once the archive is whole, before records are removed.
  std::function<void(const std::vector<std::string>&)> incomplete = {};
};

/// The result for the user; one line each.
struct RecoverResult {
  std::string output;
  int ranks = 0;
  int recovered = 0;
  uint64_t events = 0;
  double seconds = 0;                 ///< from the first to the last time stamp
  std::vector<std::string> missing;   ///< missing records and their likely places; damaged records
  std::vector<std::string> in_calls;  ///< ranks that died in a call, by call
  bool kept = false;                  ///< the records are still there
};

/// Writes the archive and removes the records, unless they are to be kept. If records of some ranks
/// are missing, the others stay, so that a later attempt with more records can write the archive
/// anew. Throws RecoverError.
RecoverResult recover(const RecoverTask& task);

}  // namespace tracing
}  // namespace rubato
