#pragma once

// Finds the ends of an archive's files, which libotf2 3.0 does not check. For an event file that
// was truncated in its second chunk or later, it continues without end with the contents of its
// buffer from the previous chunk; likewise if the first record is a 0. From an anchor file it reads
// as many properties as a number in it claims.
//
// A file is a sequence of chunks, all but the last one of the size given in the anchor. Each begins
// with a byte 3; a byte that is 'B' if numbers have their lowest byte first and '#' if they have it
// last; and, in event files, the numbers of its first and last event (8 bytes each, from 1). Each
// record begins with a byte for its kind, never 0; a 5 is a time (8 bytes) that applies to the
// following records. After the last record of a file there are a 2 and a 1.

#include <cstdint>
#include <optional>
#include <string>

namespace rubato {

/// The contents of the headers of an event file's chunks.
struct EventHeaders {
  uint64_t events = 0;  ///< number of events before any damage
  /// A header does not continue where the previous chunk ended, or no record follows it.
  bool damaged = false;
};

/// A file of an archive, checked before it is opened: libotf2 treats unreadable files as absent,
/// and a pipe without a writer blocks it for ever.
struct PartOnDisk {
  bool is_there = false;
  std::string problem;  ///< "Permission denied", "is no regular file"; "": it can be read
  explicit PartOnDisk(const std::string& path);
};

/// Reads the headers of the chunks, of `chunk` bytes each. Nothing for a file that cannot be read,
/// or does not look like one of libotf2.
std::optional<EventHeaders> event_headers(const std::string& path, uint64_t chunk);

/// True unless the file can be read and does not end as libotf2 ends its files.
bool ends_as_written(const std::string& path);

/// False for an anchor file that claims more properties than it has space for. From byte 46 on it
/// contains three zero-terminated texts (machine, creator, description), then the number of
/// properties in 4 bytes.
bool has_room_for_properties(const std::string& anchor);

}  // namespace rubato
