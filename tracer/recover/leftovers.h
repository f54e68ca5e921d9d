#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Records left on this machine by runs that ended without an archive.
namespace rubato {
inline namespace tracing {

/// The state of the processes whose records are in a directory.
enum class RecordState {
  kEnded,      ///< none of them lives
  kRunning,    ///< one does
  kElsewhere,  ///< they ran on another machine, which can see this directory
  kUnknown,    ///< there is no journal that can be read
  kRollCall    ///< a file (roll_call.h) of a job that ended in MPI_Init
};

/// The records of a job in one directory.
struct Leftover {
  std::string directory;  ///< or file
  RecordState state = RecordState::kUnknown;
  std::vector<int> ranks;  ///< whose records are here ...
  int size = 0;            ///< ... of this number of ranks
  std::string host;
  std::string command;
  std::string output;    ///< where the archive was to be
  uint64_t bytes = 0;    ///< of the files here
  int64_t last_use = 0;  ///< seconds since 1970: when the last of them was changed
};

/// This user's records in the places where the tracer puts them (/dev/shm, TMPDIR, /tmp), and in
/// `places`, each a directory of records or one that holds such directories. The latest comes
/// last.
std::vector<Leftover> find_leftovers(const std::vector<std::string>& places);

/// Removes the records that are in `directory`, or that an archive of that name was to be made of,
/// and what there is of that archive; files that are not Rubato's stay. Returns the bytes that were
/// removed. Throws RecoverError, and removes nothing, where one of the processes runs or ran on
/// another machine. Without a journal records are of no use, and are removed when they are a minute
/// old: a job that begins has no journal for a moment.
uint64_t discard_records(const std::string& directory);

}  // namespace tracing
}  // namespace rubato
