#pragma once

#include <otf2/otf2.h>

#include <string>
#include <vector>

#include "tracer/archive/event_writer.h"
#include "tracer/timing/clock_model.h"

/// Opening an archive and writing locations into it.
///
/// OTF2 3.0 gives the memory of a buffer back when writing it fails, and then writes it once more.
/// So the memory is ours and stays, and after the first error nothing of OTF2 is called any more:
/// the archive handle is left as it is.
namespace rubato {
inline namespace tracing {

/// Who writes into an archive's directory.
enum class Writer {
  kFirst,   ///< makes it, and writes definitions and the anchor file
  kFurther  ///< adds the files of its own locations, once the directory is there
};

/// An archive to write to; null when that is impossible.
OTF2_Archive* open_archive(const std::string& directory, Writer writer);

/// Keeps OTF2 from printing its errors; they are counted in otf2_failed.
void silence_otf2();

/// What a message says of such an error, and what to do then.
struct WriteTrouble {
  const char* cause;
  const char* remedy;
};
WriteTrouble write_trouble(OTF2_ErrorCode error);

/// What one process recorded, as it is written.
struct ProcessRecords {
  int rank = 0;
  uint64_t zero = 0;  ///< tick that its records count from
  OpenEnds ends;
  std::vector<ThreadRecords> threads;
  std::vector<ClockOffset> offsets;  ///< at least two, times ascending
};

/// Writes event and local definition files of all threads of the given processes; one summary of
/// locations for each. Empty when OTF2 cannot write.
std::vector<std::vector<LocationSummary>> write_locations(
    OTF2_Archive* archive, const std::vector<ProcessRecords>& processes,
    const std::vector<Translation>& translations);

/// Local clock plus offset, as OTF2 computes it.
uint64_t corrected(uint64_t time, const std::vector<ClockOffset>& offsets);

/// Name of the text file that stands beside an unfinished archive.
inline constexpr char kIncomplete[] = "INCOMPLETE";
/// Beside it once a rank called MPI_Abort and has said so: no other one says anything.
inline constexpr char kAborted[] = "ABORTED";
/// Directory below the archive's that full memory is emptied to.
inline constexpr char kOverflow[] = ".records";

}  // namespace tracing
}  // namespace rubato
