#pragma once

// Data that `measured` needs before it can replay with changes: the own time of each kind of call;
// the least time from a send to the end of its receive per size and level; the largest message that
// was sent without waiting for its receiver; the smallest one that waited, which gives the eager
// limit where the archive does not; and the losses of threads. One pass over the archive, in which
// every call leaves as recorded.
//
// The own time of a call is its time without waiting: leave - max(enter, cause), with the last
// cause. For a call that did not wait it is leave - enter. For a call that waited, leave - cause
// contains the transfer of the message, so it is an upper bound of the own time. The least over all
// calls of a name, level (or number of members) and length is the best bound. (The least leave -
// enter would contain waiting where every call of a name waits.)

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "replay/matching/causes.h"
#include "replay/matching/timeline_state.h"
#include "replay/rules/recorded/lower_envelope.h"
#include "replay/rules/recorded/recorded_losses.h"

namespace rubato {

/// Index of a level in the tables: all ranks of a node share one entry, because some archives do
/// not contain sockets. The recording contains no distances.
inline int surveyed_level(PairClass pair) {
  return pair == Level::kSocket ? static_cast<int>(Level::kNode) : pair.number();
}

/// Key of calls with the same own time; and their cause.
struct OwnCost {
  double bytes = 0;      ///< of all messages waited for
  uint32_t level = 0;    ///< the most distant surveyed_level()
  uint32_t members = 0;  ///< of the communicator of a collective
  bool packs = false;    ///< the call packs or unpacks data in blocks
  /// Recorded time of the last cause.
  double cause = -std::numeric_limits<double>::infinity();

  void add(double more_bytes, int surveyed_level, double recorded_cause) {
    bytes += more_bytes;
    level = std::max(level, static_cast<uint32_t>(surveyed_level));
    cause = std::max(cause, recorded_cause);
  }
  void add_collective(double more_bytes, int size, double recorded_cause) {
    add(more_bytes, 0, recorded_cause);
    members = std::max(members, static_cast<uint32_t>(size));
  }
  uint64_t key(uint16_t name) const {
    return uint64_t{packs} << 63 | uint64_t{name} << 40 | uint64_t{level} << 32 | members;
  }
};

/// The least time T from the cause of calls to their end, by length. It must not contain how late
/// the waiting side was: W is the time of a cause, `begin` the call's enter or its last cause,
/// whichever is later.
///
/// A call waited for its cause if that came after the enter, or less than leave - begin before it,
/// when the message may still have been under way. Then leave - W bounds T. A call that found its
/// cause done long before shows only what is left to do then, at most leave - begin. Where no call
/// waited for a cause of this length or of one as near, that is the bound.
class LeastDelay {
 public:
  void add(double bytes, double begin, double leave, double cause) {
    if (leave < cause) return;  // clocks differ by this much
    delay_.add(bytes, leave - cause);
    if (cause >= begin - (leave - begin))
      waited_.add(bytes, leave - cause);
    else
      late_.add(bytes, leave - begin);
  }
  void finish() {
    for (LowerEnvelope* envelope : {&delay_, &waited_, &late_}) envelope->finish();
  }
  void put(ByteWriter& to) const {
    for (const LowerEnvelope* envelope : {&delay_, &waited_, &late_}) envelope->put(to);
  }
  void take(ByteReader& from) {
    for (LowerEnvelope* envelope : {&delay_, &waited_, &late_}) envelope->take(from);
  }
  double at(double bytes) const {
    const double delay = delay_.at(bytes);
    const bool waited = waited_.sampled(bytes) <= late_.sampled(bytes);
    return waited ? delay : std::min(delay, late_.at(bytes));
  }

 private:
  LowerEnvelope delay_;   ///< leave - W of all calls
  LowerEnvelope waited_;  ///< leave - W of calls that waited
  LowerEnvelope late_;    ///< leave - begin of the others
};

/// Calls of a name that pack the same number of bytes and blocks.
struct PackingCalls {
  using Key = std::array<uint64_t, 4>;  ///< name, bytes, blocks, and those of earlier sends
  static Key key(uint16_t name, const PackingAction& packed) {
    return {name, packed.bytes, packed.blocks, static_cast<uint64_t>(packed.earlier)};
  }

  uint64_t calls = 0;
  uint64_t waited = 0;  ///< of these: entered before their cause
  uint64_t sends = 0;   ///< of the latter: waited for the receiver of a send
  int64_t ticks = 0;    ///< sum of leave - max(enter, cause), without losses
  OwnCost contiguous;   ///< what the same without packing would be
  void add(const PackingCalls& more) {
    calls += more.calls;
    waited += more.waited;
    sends += more.sends;
    ticks += more.ticks;
    contiguous.bytes = std::max(contiguous.bytes, more.contiguous.bytes);
    contiguous.level = std::max(contiguous.level, more.contiguous.level);
  }
};

/// The tables, in ticks; by surveyed_level(), but for the evidence.
struct RecordedMinima {
  std::vector<LowerEnvelope> floor;  ///< by call: leave - enter over bytes awaited
  std::unordered_map<uint64_t, LowerEnvelope>
      own;                                      ///< by OwnCost::key(): leave - max(enter, cause)
  std::array<LeastDelay, kLevels> receive;      ///< since the send's enter
  std::array<LeastDelay, kLevels> probe;        ///< the same, to the end of a probe that found it
  std::array<LeastDelay, kLevels> synchronous;  ///< of a send, since its receive's post
  /// The same two of calls that pack.
  std::array<LeastDelay, kLevels> packed_receive, packed_synchronous;
  std::array<LeastDelay, kLevels> epoch;  ///< since the enter of the post, complete or unlock
  std::unordered_map<uint64_t, LeastDelay> collective;  ///< by collective_key()
  std::array<double, kLevels> eager_evidence{};  ///< bytes of the largest send that did not wait
  /// Bytes of sends whose call could only wait for them since long before their receive was posted,
  /// and left soon after.
  std::array<std::set<double>, kLevels> waiting_evidence;
  std::map<PackingCalls::Key, PackingCalls> packing;
  double most_per_block = 0;  ///< ticks that packing takes at most for each block
  RecordedLosses losses;      ///< of the timelines in this process

  /// Times were repaired: a call that ends exactly at its cause was moved there, and is no evidence
  /// of its own time.
  bool repaired = false;

  /// Before finish(): serialises the samples for another process.
  void put(ByteWriter& to) const;
  void take(ByteReader& from);
  /// REQUIRES: called once, after all calls.
  void finish();
  /// Own time of a call, ticks; infinite where no call bounds it.
  double own_cost(uint16_t name, const OwnCost& cost) const {
    const auto table = own.find(cost.key(name));
    return table == own.end() ? std::numeric_limits<double>::infinity()
                              : table->second.at(cost.bytes);
  }

  /// The own work of a call that packs data, in ticks: the mean time of such calls since their
  /// enter or their last cause, beyond the least one with contiguous data of that length: of calls
  /// of the same name since their enter, and of messages since their cause. At most most_per_block,
  /// since the rest may be other messages on the network.
  double packing_of(uint16_t name, const PackingAction& packing) const;

  static uint64_t collective_key(CollectiveOp op, int members) {
    return static_cast<uint64_t>(op) << 32 | static_cast<uint32_t>(members);
  }
};

/// The eager limit used: from the archive or the user, but at least the largest send observed to be
/// eager.
struct EagerLimits {
  std::array<double, kLevels> bytes;
  EagerLimits() { bytes.fill(std::numeric_limits<double>::infinity()); }
};

/// Fills a RecordedMinima. Times are as recorded.
class MinimaRules {
 public:
  static constexpr bool kMayBeDivided = true;
  static constexpr int kLanes = 1;
  static constexpr bool kFollowsRecording = true;  ///< what blocks blocked when recorded

  MinimaRules(RecordedMinima& minima, const Placement& placement, const EagerLimits& limits,
              const TraceDefinitions& trace)
      : minima_(&minima),
        placement_(&placement),
        limits_(&limits),
        long_before_(kLongBefore * trace.ticks_per_second),
        least_flush_(kLeastFlush * trace.ticks_per_second) {
    minima.floor.resize(trace.calls.size());
    for (const MpiCallInfo& call : trace.calls)
      unseen_requests_ = unseen_requests_ || (call.other_requests && !call.one_sided);
    minima.most_per_block = kMostPerBlock * trace.ticks_per_second;
  }

  Lanes<1> compute(double recorded, bool, uint32_t) { return Lanes<1>(recorded); }
  void begin_call(TimelineState<1>&) {}
  Lanes<1> notify(TimelineState<1>& timeline, PairClass) { return timeline.enter; }

  void send(TimelineState<1>&, const Call& call, const Action& action, Transfer<1>& transfer) {
    // Its end is known at the leave of the call that completes it.
    transfer.sent[0] = std::numeric_limits<double>::infinity();
    transfer.posted[0] = call.enter;
    transfer.sender_waits = waits(action, transfer);
    transfer.handshake =
        (transfer.sender_waits && !(action.flags & kSynchronous)) || watches(transfer, action);
  }
  void post(TimelineState<1>&, const Action&, Transfer<1>&) {}
  /// True for sends that may give evidence of the eager limit: their end is awaited.
  bool watches(const Transfer<1>& transfer, const Action& action) const {
    return !(action.flags & (kSynchronous | kBuffered)) &&
           (action.flags & kBlocking || action.message.slot != kNoSlot) &&
           std::isinf(limits_->bytes[transfer.pair.number()]);
  }

  void matched(Transfer<1>& transfer) {
    // A send that completed before its receive was posted did not wait for it.
    const double done = transfer.sent[0];
    if (done < transfer.recorded_post) {
      double& evidence = minima_->eager_evidence[transfer.pair.number()];
      evidence = std::max(evidence, static_cast<double>(transfer.bytes));
      return;
    }
    if (std::isinf(done)) return;
    const double before = transfer.recorded_post - transfer.posted[0];
    const double behind = done - transfer.recorded_post;
    if (before < long_before_ || behind > before) return;
    minima_->waiting_evidence[transfer.pair.number()].insert(static_cast<double>(transfer.bytes));
  }

  /// To be called for each call of any role, before its leave.
  void note_losses(const TimelineState<1>& timeline, const Call& call);
  Lanes<1> leave(TimelineState<1>& timeline, const Call& call, const RuleContext<1>& context);

  Level level(int a, int b) const { return placement_->level(a, b); }

 private:
  /// Seconds: blocks of 4 B, 256 B apart, took 165 to 380 ns in shared memory, with both sides'
  /// work and the first access to each page.
  static constexpr double kMostPerBlock = 400e-9;
  static constexpr double kLongBefore = 10e-6;  ///< seconds: more than clocks differ
  static constexpr double kLeastFlush = 5e-6;   ///< seconds: more than a query of losses takes

  bool waits(const Action& action, const Transfer<1>& transfer) const {
    if (action.flags & kSynchronous) return true;
    if (action.flags & kBuffered) return false;
    return static_cast<double>(transfer.bytes) > limits_->bytes[transfer.pair.number()];
  }

  /// When the wait that `call` ends began, as recorded: its enter, or that of the first poll. Adds
  /// the time that the wait lost to `lost`.
  double wait_begin(const TimelineState<1>& timeline, const Call& call, double& lost);
  /// The current call ends the sends of `sends_`. Since `begin` it can only have waited for them.
  void end_sends(const Call& call, const RuleContext<1>& context, double begin);

  /// A call that ends before its cause shows an error of the clocks, not the speed of calls.
  static void add(LowerEnvelope& envelope, double bytes, double residual) {
    if (residual >= 0) envelope.add(bytes, residual);
  }

  RecordedMinima* minima_;
  struct Delayed {
    LeastDelay* least;
    double bytes;
    double cause;  ///< W
  };
  // Of the current call; members to spare the allocation.
  std::vector<Delayed> delays_;
  std::vector<Transfer<1>*> sends_;  ///< whose end is evidence of the eager limit
  struct Loop {
    double enter;  ///< of the first poll
    double lost;   ///< ticks
  };
  std::unordered_map<int, Loop> loops_;  ///< by timeline that polls
  bool unseen_requests_ = false;         ///< calls may wait for requests without records: of files
  const Placement* placement_;
  const EagerLimits* limits_;
  double long_before_;  ///< ticks
  double least_flush_;  ///< ticks
};

}  // namespace rubato
