#pragma once

#include <otf2/otf2.h>

#include <string>
#include <vector>

#include "tracer/archive/event_writer.h"
#include "tracer/layout/clock_model.h"

/// Opening an archive and writing locations into it.
///
/// OTF2 3.0 frees a buffer when writing it fails, and then writes it once more. Therefore buffers
/// come from this module's memory, which stays, and after the first error no OTF2 function is
/// called any more: the archive handle is abandoned.
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

/// The texts of a message for an otf2_error: its cause, and what to do, if
/// that helps.
struct WriteTrouble {
  std::string cause, remedy;
};
WriteTrouble write_trouble(int error);

/// The records of one process, for writing.
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

/// Name of the text file beside an unfinished archive.
inline constexpr char kIncomplete[] = "INCOMPLETE";
/// Beside it once a rank has reported its MPI_Abort: no other rank reports anything.
inline constexpr char kAborted[] = "ABORTED";
/// Directory below the archive's that full memory is emptied to.
inline constexpr char kOverflow[] = ".records";

}  // namespace tracing
}  // namespace rubato
