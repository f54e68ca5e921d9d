#pragma once

// Where the calls of an archive lie while it is replayed: packed, in memory or in a file that has
// no name.
//
// The ranks of a run are replayed side by side, but an archive wants to be read one location after
// the other: libotf2 keeps a chunk (a megabyte, often) and a file descriptor for every open one,
// and finding the place in a closed one again costs as much as reading up to it. So an archive is
// decoded once, location by location, and what the replay needs of it, a fifth to all of its size,
// is kept, in pieces of 10 to 30 KiB: the first that are written in memory, 24 KiB times the number
// of timelines but at least 1 MiB and at most 64 MiB, the rest in a temporary file. From there
// every rank is read call by call, of what is in the file 2 KiB at a time, as often as scenarios
// ask for it. A small archive never gets as far as the disk.

#include <memory>
#include <mutex>
#include <vector>

#include "replay/store/call_file.h"
#include "replay/store/packed_calls.h"

namespace rubato {

class CallStore {
 public:
  /// For `timelines` timelines, with their records or without; the first `room` bytes stay in
  /// memory.
  CallStore(int timelines, bool with_records, size_t room)
      : with_records_(with_records), timelines_(timelines), file_(room) {}
  CallStore(int timelines, bool with_records)
      : CallStore(timelines, with_records, room_for(timelines)) {}

  /// Appends the calls of `block` to a timeline. Threads may append to different timelines. Errors:
  /// as CallFile's.
  void append(int timeline, const Block& block);
  /// What append() packs with, for those who know calls by their shapes; then settle().
  CallPacker& packer(int timeline);
  /// Takes a piece that is full.
  void settle(int timeline);
  /// A timeline has no more calls.
  void close(int timeline);
  /// All calls of a timeline that is not closed were wrong; others will be appended. Their room is
  /// lost, and uses() knows of them.
  void forget(int timeline);

  /// What all timelines together do, once they are closed.
  const CallUses& uses() const { return uses_; }

  /// Replaces `block` by the next calls of a timeline; false at its end.
  bool read(int timeline, Block& block);
  /// As EventSource::unpacker().
  CallUnpacker* unpacker(int timeline) const { return timelines_[timeline].unpacker.get(); }
  /// Back to the start of every timeline.
  void rewind();

 private:
  struct Timeline {
    std::unique_ptr<CallPacker> packer;  ///< while calls are appended
    std::vector<PiecePlace> pieces;
    size_t next_piece = 0;
    std::unique_ptr<CallUnpacker> unpacker;  ///< while they are read
  };

  /// Bytes that so many timelines may have in memory.
  static size_t room_for(int timelines);
  void write(Timeline& timeline);

  bool with_records_;
  std::vector<Timeline> timelines_;
  SharedShapes shapes_;  ///< of those that are read
  std::mutex writing_;   ///< guards what follows while threads append
  CallUses uses_;
  CallFile file_;
};

}  // namespace rubato
