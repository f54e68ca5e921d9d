#pragma once

#include <cstddef>
#include <string>

namespace rubato {

// How much memory the messages of a rank take. It has two buffers, for what goes out and what comes
// in; messages that are under way at the same time share one. So lengths of which several go at
// once end earlier than those that go alone, rather than that memory grows with their number.

/// Messages at once in a burst (Pair), and to the neighbours of a rank (patterns.cc).
inline constexpr int kMostInBurst = 8, kMostNeighbours = 4;
/// Bytes for messages that go at once, as far as they are short.
inline constexpr size_t kForSeveral = 16 << 20;

/// So many bytes and what is left of the last line of a cache.
size_t whole_lines(size_t bytes);

/// The bytes of each of the two, where messages have up to `max_bytes` and up to `at_once` of them
/// lie in it: room for one of the longest, and up to kForSeveral for several. Patterns that are
/// cold walk through at least `cold_bytes` of it.
size_t message_buffer(size_t max_bytes, int at_once, size_t cold_bytes = 0);

/// The longest messages of which `at_once` fit into such a buffer; each begins at the line of a
/// cache.
size_t longest_at_once(size_t buffer, size_t max_bytes, int at_once);

/// The bytes of each of two buffers whose contents are in no cache when a walk comes by again: as
/// large as the largest cache, so that it has passed twice the cache meanwhile. No more than a
/// quarter of the `left` bytes that a rank can have, so that both take half of them.
size_t cold_buffer(size_t cache, unsigned long long left);

/// Where messages lie that must not be in a cache: each behind the one before, whatever their
/// lengths, and at the begin again where one does not fit any more. The place is kept from loop to
/// loop: a loop is far too short to get through the whole.
class MemoryWalk {
 public:
  explicit MemoryWalk(size_t bytes) : bytes_(bytes) {}

  /// The place of the next `used` bytes, no more than there are in all; at the line of a cache.
  size_t next(size_t used);

 private:
  size_t bytes_;
  size_t at_ = 0;
};

/// What a rank takes part in.
struct MemoryNeeds {
  size_t max_bytes = 0;     ///< of a message
  size_t cold_bytes = 0;    ///< that cold patterns walk through; 0: the rank does none
  size_t copied_bytes = 0;  ///< that are copied from and to; 0: the rank copies nothing
  size_t collectives = 0;   ///< bytes of the buffers of a collective
};

/// The most bytes that it has at once: one thing is measured after the other.
unsigned long long memory_of_rank(const MemoryNeeds& needs);

/// What the ranks of a node need, and what it has.
struct NodeMemory {
  int ranks = 0;
  unsigned long long each = 0;  ///< bytes, of the rank that needs most
  unsigned long long all = 0;   ///< bytes of all of them
  unsigned long long left = 0;  ///< bytes that the system can give

  bool is_enough() const { return all <= left; }
};

/// Why that is not enough and what to do, in one line.
std::string complain_of_memory(const NodeMemory& memory, size_t max_bytes, const std::string& host);

}  // namespace rubato
