#pragma once

// Replay in the order of time.
//
// The engine runs each timeline until it blocks, in no order of time (replay.h). Where messages
// share links (models/network/network.h), or a receive takes the message that arrives first
// (arrival_matcher.h), an event depends on earlier events in replayed time. Such scenarios are
// replayed one by one, by the same engine, whose timelines then run only to their next call: its
// enter is one of the events, and events are processed in the order of time. Events at the same
// time are ordered by kind (in the order of Kind), then by rank, then by when they were requested;
// so results depend on nothing else.
//
// A message passes through these events:
//
//   its send is performed     when the call is entered; its data, or its request to send, is ready
//                             when the processor has spent the overhead
//   kStart                    all steps of the protocol are complete
//   kPort                     and the answer of the receiver of a rendezvous has arrived: the data
//                             queues for the out-port of its sender
//   kFlow                     and the port is free: the data begins to flow
//   kTimer                    a flow has arrived, or another event of the network
//   kRequest, kAnswer         the request to send is at a receiver that has posted, or the sender
//                             can have seen the answer: pull and push proceed when that process is
//                             inside MPI (presence.h has the same rules without the order of time)
//   kPart                     a message of a collective's algorithm begins to flow
//   kOperation, kThere, kLeft one-sided: it begins, its request has arrived, its data has left
//                             (one_sided_flows.h)
//   kEnvelope                 the request to send is at the receiver, which may match it
//                             (arrival_matcher.h)
//
// The clock of the replay never goes back. The one exception is a timeline that was released
// because records are missing: its actions are taken to happen now.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "models/network/network_model.h"
#include "models/platform/message_cost.h"
#include "models/platform/platform.h"
#include "replay/matching/channel_table.h"
#include "replay/rules/one_sided_flows.h"

namespace rubato {

/// An event at a time.
struct TimedEvent {
  enum class Kind : uint8_t {
    kTimer,
    kThere,
    kEnvelope,
    kRequest,
    kAnswer,
    kStart,
    kPort,
    kFlow,
    kPart,
    kOperation,
    kLeft,
    kCall
  };

  double time = 0;
  Kind kind = Kind::kCall;
  int rank = 0;  ///< of the sender; of a kCall the timeline
  uint64_t number = 0;
  uint32_t subject = 0;  ///< message or operation; of a kTimer the flow, of a kPart the collective
  uint32_t version = 0;  ///< of a kPart its message

  bool operator>(const TimedEvent& other) const {
    if (time != other.time) return time > other.time;
    if (kind != other.kind) return kind > other.kind;
    return rank != other.rank ? rank > other.rank : number > other.number;
  }
};

/// The event queue, the presence inside MPI, and the messages in progress. Times in ticks.
class TimeOrder {
 public:
  using Event = TimedEvent;
  using Kind = TimedEvent::Kind;

  /// A message of which at least one side has been replayed.
  struct Message {
    int sender = -1;  ///< timelines
    int receiver = -1;
    TransferId partner = kNoTransfer;  ///< its receive, where that is a separate transfer
    bool open = false;                 ///< sent, and not arrived
    uint32_t version = 0;              ///< of the send
    Protocol protocol = Protocol::kEager;
    HandshakeTimes<1> handshake;  ///< of a pull or push, without `ready`
    double length = 0;            ///< from the start to the arrival, without contention
    /// The part of `length` that remains when it begins to flow: less for a push that started
    /// before its sender can have seen the answer.
    double rest = 0;
    double lead = 0;      ///< part of `length`: the answer, before the data reaches the port
    double data = 0;      ///< Flow::data
    double port = 0;      ///< Flow::port
    double alone = 0;     ///< arrival without contention
    double envelope = 0;  ///< when it can be matched: by the eager limit or its request to send
  };

  TimeOrder(int timelines, Placement placement, const ContentionSetting& contention,
            double ticks_per_second);

  double now() const { return now_; }
  /// Loads of the links that flows share, if there are some.
  std::optional<LinkLoads> loads() { return shared_ ? shared_->loads(now_) : std::nullopt; }
  void push(double time, Kind kind, int rank, uint32_t subject, uint32_t version = 0);
  /// The next event; sets the clock to its time.
  std::optional<Event> next();
  /// True if there is no event up to `time`; sets the clock to it.
  bool skip_to(double time);

  /// The timeline that may enter its call now; -1: none.
  int due = -1;

  Message& operator[](TransferId id) {
    if (id >= messages_.size()) messages_.resize(id + 1);
    return messages_[id];
  }
  /// True until the message has arrived.
  bool open(TransferId id) const { return id < messages_.size() && messages_[id].open; }
  /// The message has no receiver after all.
  void drop(TransferId id);

  /// A message begins to flow between two ranks.
  void flow(TransferId id, int source, int destination, Level level, double bytes);
  /// The operation `operation` of OneSidedFlows begins to flow.
  void flow(uint32_t operation, Level level, const Flow& flow);
  /// True when other flows have delayed its flow, which is in progress.
  bool held_up(uint32_t operation) const;
  /// True if transfers of this level share the network.
  bool is_shared(Level level) const { return contended_[static_cast<size_t>(level)]; }
  /// A message of a collective begins to flow, by a kPart. The length follows from `alone`.
  void flow_part(const Event& part, Level level, Flow flow);

  static constexpr uint32_t kNone = UINT32_MAX;
  /// The result of a kTimer.
  struct Arrived {
    TransferId message = kNoTransfer;  ///< kNoTransfer: none
    uint32_t operation = kNone;        ///< one-sided
    uint32_t collective = kNone;       ///< CollectiveInstance::play, whose `part` arrives
    uint32_t part = 0;
  };
  Arrived over(const Event& timer);

  // --- Presence inside MPI ---

  void always_inside(int timeline) { presence_[timeline].always = true; }
  /// Enters an MPI call in which progress is made; returns the events that waited for it.
  std::vector<Event> enter(int timeline);
  void leave(int timeline, double time);
  std::vector<Event> end(int timeline);
  /// True when `timeline` is inside MPI now; else `event` is returned when it is.
  bool finds_inside(int timeline, const Event& event);
  /// The enter of the call in which `timeline` is inside MPI, or was at `time`; minus infinity
  /// where it is always inside, or had ended by then.
  double entered(int timeline, double time) const;

 private:
  struct Presence {
    bool always = false;
    bool ended = false;
    bool inside = false;
    double since = 0;   ///< enter of its last call
    double until = -1;  ///< leave of its last call
    std::vector<Event> asked;
  };
  /// What a flow carries.
  enum class Subject : uint8_t { kNothing, kMessage, kPart, kOperation };
  struct UnderWay {
    uint32_t subject = 0;  ///< a message, a collective or a one-sided operation
    uint32_t version = 0;  ///< of the message; of a part its number in the collective
    int rank = 0;          ///< of the sender
    Subject kind = Subject::kNothing;
    bool shares = false;  ///< the network of the levels with contention
    uint16_t timers = 0;  ///< outstanding ones
  };

  uint32_t new_flow();
  Network& network_of(const UnderWay& flow) { return flow.shares ? *shared_ : unlimited_; }
  /// Begins a flow; all but its nodes is given by `what` and `flow`.
  uint32_t begin(UnderWay what, Level level, Flow flow);

  void take_timers(Network& network);
  /// To be called before the clock advances.
  void settle();

  Placement placement_;
  std::array<bool, kLevels> contended_{};
  UnlimitedNetwork unlimited_;
  std::unique_ptr<Network> shared_;  ///< of the levels with contention
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t numbers_ = 0;
  double now_ = 0;
  std::vector<Message> messages_;  ///< by transfer
  std::vector<UnderWay> flows_;
  std::vector<uint32_t> free_flows_;
  std::vector<uint32_t> flow_of_;   ///< by one-sided operation
  std::vector<Presence> presence_;  ///< by timeline
};

}  // namespace rubato
