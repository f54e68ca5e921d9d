#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "calibrate/clock/clock.h"

namespace rubato {

/// Memory for messages, page-aligned and touched before anything is timed. Errors: InputError if
/// there is too little.
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

/// Seconds in the calls of one receive, medians.
struct ReceiveTimes {
  double post = 0;  ///< in MPI_Irecv
  double wait = 0;  ///< in MPI_Wait
  double both = 0;  ///< together
};

/// The experiments between rank 0 of a communicator and one partner. Rank 0 calls them; the partner
/// is in serve(), receives a command before each loop, and runs the other half.
///
/// The sent data is always the data received just before: programs write what they send, so it lies
/// in the sender's cache and not in the receiver's. Sending one unchanged buffer repeatedly would
/// find it in the receiver's cache, which is twice as fast here. Incoming data lands in another
/// buffer than the one sent last, as in most programs: with one buffer (NetPIPE) the receiver still
/// has it in its cache, which is slower for long messages.
class Pair {
 public:
  /// `partner` may be the own rank: then only exchange_with_self() makes sense.
  Pair(MPI_Comm comm, int partner, size_t max_bytes);

  /// Messages in a burst of this length: 8 short ones, 2 long ones.
  static int burst_length(size_t bytes);
  /// The longest message length for which two messages fit into memory (message_memory.h).
  size_t longest_in_burst() const;

  // On rank 0.
  /// Seconds of half a round trip, averaged over `round_trips`; of MPI_Ssend, if `synchronous`.
  double ping_pong(size_t bytes, int round_trips, bool synchronous = false);
  /// Seconds of half a round trip of `messages` nonblocking sends at once, receives posted before,
  /// averaged.
  double burst(size_t bytes, int messages, int round_trips);
  /// Messages of stream().
  static constexpr int kStreamLength = 256;
  /// Seconds of that many blocking sends in a row, to blocking receives, and an empty answer;
  /// averaged.
  double stream(size_t bytes, int repetitions);
  /// Seconds of an exchange: both send to each other at the same time, nonblocking; averaged.
  double exchange(size_t bytes, int exchanges);
  /// Seconds of one MPI_Sendrecv of rank 0 with itself, averaged.
  double exchange_with_self(size_t bytes, int exchanges);
  /// True when a blocking send of `bytes` returned well before its receive was posted, which comes
  /// `delay` seconds late. The receiver is inside MPI meanwhile: Open MPI's shared memory holds
  /// some senders until the receiver calls MPI at all, but these sends are eager too (two of them
  /// head to head do not deadlock).
  bool sends_eagerly(size_t bytes, double delay);
  /// The same for rank 0 and itself: true if a send completes without its receive.
  bool sends_eagerly_to_self(size_t bytes);
  /// Sends a bit pattern there and back (or to itself) and checks each byte. False if one differs.
  bool payload_survives(size_t bytes);

  // Processor time at either end (pair_overheads.cc). The other end computes for `away` seconds or
  // not at all; each time is the median of `repetitions`, less the cost of the clock.
  /// Seconds in MPI_Isend while the receiver has posted and computes.
  double send_overhead(size_t bytes, int repetitions, double away);
  /// This end computes for `away` seconds between MPI_Irecv and MPI_Wait; the message arrives
  /// meanwhile, unless it needs the receiver inside MPI; the sender is in MPI_Send.
  ReceiveTimes receive_overhead(size_t bytes, int repetitions, double away);
  /// Seconds in an MPI_Recv that is posted `away` seconds after its message was sent.
  double unexpected_overhead(size_t bytes, int repetitions, double away);
  /// Seconds in MPI_Wait after MPI_Isend and computing for `away` seconds; the message is sent
  /// meanwhile, unless it needs the sender inside MPI. The receiver computes for `partner_away`
  /// seconds and is in MPI_Wait from then on. If `partner_away` is 0: that time, or the time until
  /// the receiver confirms the message, whichever is longer.
  double sender_wait(size_t bytes, int repetitions, double away, double partner_away);

  /// Ends serve() on the partner.
  void release();

  /// On the partner: runs the other halves until release().
  void serve();

 private:
  enum Kind {
    kPingPong,
    kBurst,
    kExchange,
    kStream,
    kLateReceiver,
    kPattern,
    kReceiverAway,
    kSender,
    kRelease
  };
  /// A command to the partner.
  struct Command {
    int kind;
    int count;     ///< loops of the experiment
    int messages;  ///< of a burst; of a ping-pong: 1 if it is synchronous
    size_t bytes;
    double delay;  ///< seconds
  };
  void command(int kind, size_t bytes, int count, int messages, double delay);
  void start_sends(unsigned char* from, size_t bytes, std::vector<MPI_Request>& requests);
  void post_receives(unsigned char* to, size_t bytes, std::vector<MPI_Request>& requests);
  void answer_ping_pong(const Command& command);
  void answer_burst(const Command& command);
  void answer_stream(const Command& command);
  double exchange_loop(size_t bytes, int exchanges);
  void answer_late(const Command& command);
  void answer_pattern(const Command& command);
  void answer_away(const Command& command);
  void answer_sender(const Command& command);

  static constexpr int kTag = 7;
  static constexpr int kOtherTag = 8;  // nothing is ever sent with it

  MPI_Comm comm_;
  int partner_;
  size_t max_bytes_;
  Buffer send_;
  Buffer receive_;
};

}  // namespace rubato
