#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace rubato {

/// Memory for messages, page-aligned and touched before anything is timed.
class Buffer {
 public:
  Buffer(size_t bytes, unsigned char fill);
  unsigned char* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(unsigned char* p) const;
  };
  std::unique_ptr<unsigned char, Free> data_;
  size_t size_;
};

/// The experiments between rank 0 of a communicator and one partner. Rank 0 calls them; the partner
/// sits in serve(), is told before each loop what comes, and does the other half.
///
/// What is sent is always what was received just before, as NetPIPE does it: programs write what
/// they send, so it lies in the sender's cache and not in the receiver's. Sending the same
/// unchanged buffer again and again finds it in the receiver's cache from the last time, which is
/// twice as fast here.
class Pair {
 public:
  /// `partner` may be the own rank: then only exchange_with_self() makes sense.
  Pair(MPI_Comm comm, int partner, size_t max_bytes);

  /// How many messages of this length a burst has; memory is bounded.
  static int burst_length(size_t bytes);

  // On rank 0.
  /// Seconds of half a round trip, averaged over `round_trips`.
  double ping_pong(size_t bytes, int round_trips);
  /// Seconds of half a round trip of `messages` nonblocking sends at once, receives posted before,
  /// averaged.
  double burst(size_t bytes, int messages, int round_trips);
  /// Seconds of one MPI_Sendrecv of rank 0 with itself, averaged.
  double exchange_with_self(size_t bytes, int exchanges);
  /// True when a blocking send of `bytes` returned well before its receive was posted, which comes
  /// `delay` seconds late. The receiver is inside MPI meanwhile: Open MPI's shared memory holds
  /// some senders until the receiver calls MPI at all, and those are eager all the same (two of
  /// them head to head get on).
  bool sends_eagerly(size_t bytes, double delay);
  /// The same for rank 0 and itself: true when a send completes without its receive.
  bool sends_eagerly_to_self(size_t bytes);
  /// Sends a bit pattern there and back (or to itself) and checks each byte. False when one
  /// differs.
  bool payload_survives(size_t bytes);
  /// Lets the partner go.
  void release();

  /// On the partner: does the other halves until release().
  void serve();

 private:
  struct Command;
  void command(int kind, size_t bytes, int count, int messages, double delay);
  void start_sends(unsigned char* from, size_t bytes, std::vector<MPI_Request>& requests);
  void post_receives(unsigned char* to, size_t bytes, std::vector<MPI_Request>& requests);
  void answer_ping_pong(const Command& command);
  void answer_burst(const Command& command);
  void answer_late(const Command& command);
  void answer_pattern(const Command& command);

  MPI_Comm comm_;
  int partner_;
  Buffer send_;
  Buffer receive_;
};

}  // namespace rubato
