#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "replay/trace/trace.h"

namespace rubato {

/// When a record happens in a copy, in ticks after the trace's start.
struct NewTime {
  int64_t time = 0;
  std::optional<int64_t> stop;  ///< of a flush of the tracer's buffer outside of calls: its end
};

/// New times of the records of a timeline, in their order.
class NewTimes {
 public:
  virtual ~NewTimes() = default;
  /// Of the next record; nothing once there are no more.
  virtual std::optional<NewTime> next() = 0;
};

/// How an archive is copied.
struct CopyOptions {
  bool ignore_offsets = false;  ///< times are those of the locations' own clocks
  /// Of the archive that are left out: those whose names begin so ("" for none).
  std::string without_properties;
  std::map<std::string, std::string> properties;  ///< that are added
};

/// Copies an OTF2 archive, whose definitions are `trace`, into `directory`, which must not exist:
/// all global definitions, all records of all locations with their attributes. Only times differ:
/// those of a timeline are `times_of` it; other locations of a rank (threads without calls, GPU
/// streams) move with its main thread, piece by piece between two of its records; locations of no
/// rank keep theirs. Times of the copy are those of one clock: clock offsets are applied, and so
/// are mapping tables, and local definitions are empty. Snapshots, markers and thumbnails are left
/// out. The anchor file, without which no reader takes the directory for an archive, comes last.
/// Errors: InputError when the archive has records that libotf2 does not know, or cannot be read,
/// or the copy cannot be written.
void copy_archive(const TraceDefinitions& trace,
                  const std::function<std::unique_ptr<NewTimes>(int timeline)>& times_of,
                  const std::string& directory, const CopyOptions& options);

}  // namespace rubato
