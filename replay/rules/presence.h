#pragma once

// Who is inside MPI when a message above the eager limit wants to go on.
//
// Such a message is agreed upon first: the sender's request to send takes a trip L, the receiver's
// answer another one, then the data flows. Most MPI libraries have no thread of their own for that:
// what comes in is looked at only while the program is in some call of MPI. So a message may lie
// there while its receiver computes between MPI_Irecv and MPI_Wait, or its sender between MPI_Isend
// and MPI_Wait. With R = max(start + L, posted), when the request is at a receiver that has posted:
//
//   async  a thread or the network card looks: the answer leaves at R
//   pull   the receiver fetches the data: at its first presence in MPI at or after R
//   push   the receiver answers at its first presence P at or after R. The answer is at the sender
//          at P + L, who sends at its first presence that lasts to P + A, not before P + L; T - 2 L
//          later the data is there
//
// A = o_s + L + o_r of an empty message, as both processors have a hand in the answer. Where
// messages cost processor time above all, as over the loopback, L is next to nothing: then the
// answer would always be there before the sender leaves its MPI_Isend, and the data would flow
// while it computes. But who leaves before P + A has not seen it.
//
// A rank is inside from a call's enter to its leave, and all the time that it is blocked there; any
// call that talks to others counts, a failed MPI_Test too, not one like MPI_Comm_rank that only
// looks. A rank of which several threads call MPI is taken to be inside all the time, and so is one
// whose records have ended.
//
// To find the first presence at or after a time t, the replay has to know where the rank's calls
// begin and end, and it runs ranks in no order of time. The rank may be ahead: then its calls since
// the post are kept here, until nobody asks for them any more. Or it is behind, and then the
// message waits for it:
//
//   * a call is entered after t: the message goes on at the enter;
//   * a call leaves after t: it went on at t;
//   * a call that waits for the very message does not leave before it goes on: so it does at t, or
//     at the enter if that is later.
//
// There is a fourth case. A rank is blocked in a call that waits for somebody else, who waits for
// the message: nobody can go on. Then the one message of all that could go on first in time does.
// That is right: a call can only leave by something that happens later than this, since everything
// else that could happen does. (If nothing was to happen without, the call lasts for ever.)
//
// Which message is the first one, the clocks decide; two scenarios may differ. Assume rank 0
// blocked in a receive from rank 1, which waits for message A to rank 2, which is blocked in a
// receive from rank 3, which waits for message B to rank 0. Whether A or B comes first says whether
// rank 0 or rank 2 is still inside MPI for the other one. So scenarios with pull or push are
// replayed one by one, while all others share passes whose control flow never looks at a clock.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/cost/platform.h"
#include "replay/matching/channel_table.h"

namespace rubato {

/// Messages that are being agreed upon. Times in ticks.
class Presence {
 public:
  struct Arrival {
    TransferId message;
    double time;
  };
  /// What follows once the request to send is at a receiver that has posted.
  struct HandshakeTimes {
    double ready = 0;       ///< R
    double answer = 0;      ///< until the other side can have seen the answer: A of a push, else L;
                            ///< at most T - L
    double data = 0;        ///< T - 2 L, at least 0
    double head_start = 0;  ///< of a push, at most A - L: it goes from when the answer is there

    /// How long the data of a push takes once its sender is inside MPI, where it came at `enter`,
    /// and can have seen the answer, at `answered`.
    double from_sender(double answered, double enter) const {
      return data - std::clamp(answered - enter, 0.0, head_start);
    }
  };

  explicit Presence(int timelines) : timelines_(timelines) {}

  // --- What timelines do ---

  void always_inside(int timeline) { timelines_[timeline].always = true; }
  /// Enters a call of MPI that others can make use of.
  void enter(int timeline, double time);
  void leave(int timeline, double time);
  void end(int timeline);

  // --- What happens to a message by pull or push ---

  /// The current call of `timeline` sends it, or posts its receive. What the sender says holds,
  /// where the receiver took it for another protocol.
  void send(TransferId message, int timeline, Protocol protocol);
  void post(TransferId message, int timeline, Protocol protocol);
  /// The current call of its sender or receiver does not leave before it arrives. Any other message
  /// is passed over.
  void await_send(TransferId message) { await(message, kSender); }
  void await_receive(TransferId message) { await(message, kReceiver); }
  /// The call that waited for it as its sender goes on without.
  void leave_send(TransferId message);
  /// Both sides are known.
  void match(TransferId message, const HandshakeTimes& handshake);
  /// It has no other side.
  void drop(TransferId message);

  /// True until it is known when it arrives.
  bool open(TransferId message) const { return messages_.contains(message); }

  /// Nobody can go on: lets the first message go on for which a blocked rank is there. False when
  /// there is none.
  bool serve_earliest();

  /// The messages whose arrival became known since it was asked the last time.
  std::vector<Arrival> take_arrivals() { return std::exchange(arrivals_, {}); }

 private:
  enum Side { kReceiver, kSender };
  static constexpr double kAlways = -std::numeric_limits<double>::infinity();

  struct Message {
    Protocol protocol = Protocol::kPull;
    int timeline[2] = {-1, -1};       ///< by side; of the sender only where it matters
    size_t posting_call[2] = {0, 0};  ///< number of the call, see Timeline
    bool awaited[2] = {false, false};
    bool matched = false;
    Side asked = kReceiver;  ///< the side whose presence it waits for
    double since = 0;        ///< at or after this
    HandshakeTimes handshake;
  };
  struct Stay {
    double enter, leave;
  };
  struct Timeline {
    bool always = false;
    bool ended = false;
    bool inside = false;
    double enter = 0;
    /// Calls that somebody may ask for, the first one of number `first_number`. Those before are
    /// numbered, too, from the last time when nobody was interested.
    std::vector<Stay> stays;
    size_t first_number = 0;
    int interested = 0;  ///< messages that may ask for a presence
    std::vector<TransferId> waiting;

    size_t current_call() const { return first_number + stays.size(); }
  };

  void begin(TransferId message, Side side, int timeline, Protocol protocol);
  void await(TransferId message, Side side);
  /// Lets the message go on if it is known when the side that it asks for is there.
  void ask(TransferId id, Message& message);
  void ask_again(Timeline& timeline);
  void stop_waiting(TransferId id, const Message& message);
  /// The side it asked for is there, in a call since `enter`.
  void serve(TransferId id, Message& message, double enter);
  void lose_interest(int timeline);

  std::vector<Timeline> timelines_;
  std::unordered_map<TransferId, Message> messages_;
  std::set<std::pair<double, TransferId>> waiting_;  ///< of all timelines, by `since`
  std::vector<Arrival> arrivals_;
};

}  // namespace rubato
