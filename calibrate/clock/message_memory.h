#pragma once

#include <cstddef>
#include <string>

namespace rubato {

// Memory for the messages of a rank. A rank has two buffers, for outgoing and incoming data;
// concurrent messages share one. So the lengths of bursts end earlier than those of single
// messages, and memory does not grow with the number of messages.

/// Messages at once in a burst (Pair).
inline constexpr int kMostInBurst = 8;
/// Bytes for concurrent short messages.
inline constexpr size_t kForSeveral = 16 << 20;

/// `bytes` rounded up to whole cache lines.
size_t whole_lines(size_t bytes);

/// Bytes of each buffer for messages of up to `max_bytes`, up to `at_once` at a time: space for one
/// of the longest, and up to kForSeveral for several. Cold patterns walk through at least
/// `cold_bytes` of it.
size_t message_buffer(size_t max_bytes, int at_once, size_t cold_bytes = 0);

/// The longest message length for which `at_once` messages fit into such a buffer; each begins at a
/// cache line.
size_t longest_at_once(size_t buffer, size_t max_bytes, int at_once);

/// Bytes of each of two buffers whose contents have left the caches before a walk returns: as large
/// as the largest cache, so that a walk passes twice the cache. At most a quarter of the `left`
/// bytes of a rank, so that both take half of them.
size_t cold_buffer(size_t cache, unsigned long long left);

/// Places of messages that must not be in a cache: each behind the previous one, whatever their
/// lengths, starting over when one does not fit. The place is kept between loops, since a loop is
/// far too short for the whole buffer.
class MemoryWalk {
 public:
  explicit MemoryWalk(size_t bytes) : bytes_(bytes) {}

  /// The place of the next `used` bytes (at most the size of the buffer), at a cache line.
  size_t next(size_t used);

 private:
  size_t bytes_;
  size_t at_ = 0;
};

/// The memory needs of a rank.
struct MemoryNeeds {
  size_t max_bytes = 0;     ///< of a message
  size_t cold_bytes = 0;    ///< that cold patterns walk through; 0: the rank does none
  size_t copied_bytes = 0;  ///< that are copied from and to; 0: the rank copies nothing
  size_t collectives = 0;   ///< bytes of the buffers of a collective
};

/// The most bytes at one time: measurements run one after the other.
unsigned long long memory_of_rank(const MemoryNeeds& needs);

/// The memory that the ranks of a node need, and the available memory.
struct NodeMemory {
  int ranks = 0;
  unsigned long long each = 0;  ///< bytes, of the rank that needs most
  unsigned long long all = 0;   ///< bytes of all of them
  unsigned long long left = 0;  ///< bytes that the system can give

  bool is_enough() const { return all <= left; }
};

/// Why it is not enough and what to do, in one line.
std::string complain_of_memory(const NodeMemory& memory, size_t max_bytes, const std::string& host);

}  // namespace rubato
