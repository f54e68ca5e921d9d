#pragma once

// Where the files of an archive end. libotf2 3.0 does not look: at an event file that was cut off
// in its second chunk or later, it goes on with what the chunk before left in its buffer, for ever;
// so it does where a 0 stands in place of the first record; and of an anchor file it reads as many
// properties as a number in it says.
//
// A file is a row of chunks, all but the last one of the size that the anchor names. Each begins
// with a byte 3, a byte that is 'B' where numbers have their lowest byte first and '#' where they
// have it last, and, in event files, the numbers of its first and last event (8 bytes each, from
// 1). Each record begins with a byte that says what it is, never 0; a 5 is a time (8 bytes) that
// the records behind it have. Behind the last record of a file stand a 2 and a 1.

#include <cstdint>
#include <optional>
#include <string>

namespace rubato {

/// What the chunks of an event file say at their beginnings.
struct EventHeaders {
  uint64_t events = 0;  ///< how many it holds, up to what is damaged
  /// A header does not go on where the one before ended, or no record stands behind it.
  bool damaged = false;
};

/// A part of an archive, before anybody opens it: libotf2 takes what it cannot read for what is not
/// there, and a pipe that nobody writes to holds it for ever.
struct PartOnDisk {
  bool is_there = false;
  std::string problem;  ///< "Permission denied", "is no regular file"; "": it can be read
  explicit PartOnDisk(const std::string& path);
};

/// Looks at the headers of the chunks, of `chunk` bytes each. Nothing for a file that cannot be
/// read, or does not look like one of libotf2.
std::optional<EventHeaders> event_headers(const std::string& path, uint64_t chunk);

/// True unless the file can be read and does not end as libotf2 ends its files.
bool ends_as_written(const std::string& path);

/// False for an anchor file that claims more properties than it has bytes. In it stand, from byte
/// 46 on, three texts that end with a 0 (machine, creator, description), then how many properties
/// follow, in 4 bytes.
bool has_room_for_properties(const std::string& anchor);

}  // namespace rubato
