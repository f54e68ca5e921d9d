#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// The time of a record in a copy, in ticks after the trace's start.
struct NewTime {
  int64_t time = 0;
  std::optional<int64_t> stop;  ///< of a flush of the tracer's buffer outside of calls: its end
};

/// New times of the records of a timeline, in their order.
class NewTimes {
 public:
  virtual ~NewTimes() = default;
  /// Of the next record; nothing if there are no more.
  virtual std::optional<NewTime> next() = 0;
};

/// How an archive is copied.
struct CopyOptions {
  bool ignore_offsets = false;   ///< times are those of the locations' own clocks
  bool without_stolen = false;   ///< no call or gap has time without a core
  bool without_flushes = false;  ///< the tracer never wrote its buffer
  std::vector<double> own_work;  ///< factor of the own work of calls, by rank; empty: 1
  /// Prefix of the names of properties that are left out ("": none).
  std::string without_properties;
  std::map<std::string, std::string> properties;  ///< that are added
};

/// Copies an OTF2 archive, whose definitions are `trace`, into `directory`, which must not exist:
/// all global definitions, all records of all locations with their attributes, as `options` say.
/// Times differ:
/// the records of a timeline get its `times_of`; other locations of a rank (threads without calls,
/// GPU streams) move with its main thread, interpolated between two of its records; locations
/// without a rank keep their times. The copy has one clock: clock offsets and mapping tables are
/// applied, and local definitions are empty. Snapshots, markers and thumbnails are left out. The
/// anchor file is written last, so that readers do not take an incomplete directory for an archive.
/// Errors: InputError when the archive has records that libotf2 does not know, or cannot be read,
/// or the copy cannot be written.
void copy_archive(const TraceDefinitions& trace,
                  const std::function<std::unique_ptr<NewTimes>(int timeline)>& times_of,
                  const std::string& directory, const CopyOptions& options);

}  // namespace rubato
