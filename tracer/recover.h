#pragma once

#include <stdexcept>
#include <string>
#include <vector>

/// Making an archive of the records that a job left which did not reach MPI_Finalize.
namespace rubato {

/// The records cannot be used; the text says why and what to do.
struct RecoverError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RecoverTask {
  /// Directories with records, or of the archive that was to be (it names those with records).
  std::vector<std::string> directories;
  std::string output;  ///< empty: where the archive was to be
  bool keep = false;   ///< leave the records where they are
};

/// What came of it, for people; one line each.
struct RecoverResult {
  std::string output;
  int ranks = 0;
  int recovered = 0;
  uint64_t events = 0;
  double seconds = 0;                 ///< from the first to the last time stamp
  std::vector<std::string> missing;   ///< what is not there, and where it may be; what is damaged
  std::vector<std::string> in_calls;  ///< which ranks died in which call
  bool kept = false;                  ///< the records are still there
};

/// Writes the archive and, unless they are to be kept, removes the records. Where those of some
/// ranks are not here they stay in any case, so that the next attempt, with more of them, can write
/// it anew. Throws RecoverError.
RecoverResult recover(const RecoverTask& task);

}  // namespace rubato
