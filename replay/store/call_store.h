#pragma once

// Stores an archive's calls during the replay: packed, in memory or in an unnamed file.
//
// Ranks are replayed side by side, but an archive has to be read one location after the other:
// libotf2 keeps a chunk (often a megabyte) and a file descriptor per open location, and seeking in
// a closed one costs as much as reading up to that place. So an archive is decoded once, location
// by location. Its calls take between a fifth and all of the archive's size, in pieces of 10 to 30
// KiB. The first pieces stay in memory (24 KiB times the number of timelines, at least 1 MiB and at
// most 64 MiB), the rest goes to a temporary file and is read 2 KiB per timeline at a time. Every
// pass reads from the store. A small archive never uses the disk.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "models/base/partial_array.h"
#include "replay/store/call_file.h"
#include "replay/store/packed_calls.h"
#include "replay/trace/late_actions.h"

namespace rubato {

class CallStore {
 public:
  /// With or without the records of calls; the first `capacity` bytes stay in memory.
  CallStore(int timelines, bool with_records, size_t capacity)
      : CallStore(timelines, nullptr, with_records, capacity) {}
  CallStore(int timelines, bool with_records)
      : CallStore(timelines, with_records, capacity_for(timelines)) {}
  /// Of `timelines` timelines, those in `local` have calls.
  CallStore(int timelines, const std::vector<int>& local, bool with_records)
      : CallStore(timelines, &local, with_records, capacity_for(local.size())) {}

  /// Appends the calls of `block` to a timeline; `late`: its unresolved actions, and resolved ones
  /// of earlier blocks. Threads may append to different timelines. Errors: as CallFile's.
  void append(int timeline, const Block& block, const LateActions& late = {});
  /// The packer of append(), for callers that know the shapes of their calls; call settle()
  /// afterwards.
  CallPacker& packer(int timeline);
  /// Stores a piece that is full.
  void settle(int timeline);
  /// A timeline has no more calls.
  void close(int timeline);
  /// Discards the calls of a timeline that is not closed, so that others can be appended. Their
  /// space stays in use, and uses() still counts them.
  void forget(int timeline);

  /// The uses of all timelines together, after they are closed.
  const CallUses& uses() const { return uses_; }

  /// Replaces `block` by the next calls of a timeline; false at its end.
  bool read(int timeline, Block& block);
  /// As EventSource::unpacker().
  CallUnpacker* unpacker(int timeline) const { return timelines_[timeline].unpacker.get(); }
  /// Back to the start of every timeline.
  void rewind();

 private:
  /// A timeline while calls are appended.
  struct Writing {
    explicit Writing(bool with_records) : packer(with_records) {}
    CallPacker packer;
    // Actions that are not settled, by number.
    std::map<uint64_t, uint32_t> open_in_piece;  ///< index of the action in the packer's piece
    std::map<uint64_t, uint64_t> open_in_file;   ///< offset
  };
  struct Timeline {
    std::unique_ptr<Writing> writing;
    std::vector<PiecePlace> pieces;
    size_t next_piece = 0;
    std::unique_ptr<CallUnpacker> unpacker;  ///< while they are read
  };

  CallStore(int timelines, const std::vector<int>* local, bool with_records, size_t capacity)
      : with_records_(with_records), timelines_(timelines), file_(capacity) {
    timelines_.make(local);
  }

  /// Bytes in memory for that many timelines.
  static size_t capacity_for(size_t timelines);
  Writing& writing(int timeline);
  void write(Timeline& timeline);
  void settle_action(Writing& writing, const LateActions::Settled& settled);

  bool with_records_;
  PartialArray<Timeline> timelines_;
  SharedShapes shapes_;  ///< of the pieces being read
  std::mutex writing_;   ///< guards the following members while threads append
  CallUses uses_;
  CallFile file_;
};

}  // namespace rubato
