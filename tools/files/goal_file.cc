// A GOAL schedule: for each rank the operations calc, send and recv, with labels, and which of them
// wait for the end of others (requires). A call becomes such operations in three steps.
//
//   1 replay   CallLog keeps when each call begins and ends in the scenario. The time between
//   calls,
//              and the own work of calls, are calc: added up, and written before the next operation
//              that has to wait for it.
//   1 pass     Of all ranks: the ends of each channel (the messages from a rank to another one on a
//              communicator with a tag) are counted, and the members of each collective add their
//              payloads. The n-th send of a channel meets the n-th receive. An end beyond the
//              number of the other ends is left out: LogGOPSim prints no times if an operation is
//              never met.
//   1 pass     Rank after rank: writes the operations.
//
// Operations of one call run together: `after_` is what the next operation requires, `together_`
// the operations begun since then. At the end of a step of a collective, and of a call, `together_`
// joins `after_` (end_together()). A nonblocking call adds nothing to it: its operations are kept
// by slot (`requests_`), and the call that completes them makes `after_` of them (wait_for()).
//
// A collective is the messages of the algorithm that the platform chooses (unit_schedule(), as in
// the replay). They are sized by payload, or by the parts of its members where these differ
// (Collective). If it has too many, or as one, a tree of messages to one member and back.

#include "tools/files/goal_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "replay/compare/call_log.h"
#include "replay/rules/collective_play.h"
#include "replay/study/run_replay.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

/// Bytes for each member, as runs of equal parts: Part::packed(), but for `members`, which is where
/// the run ends.
using PartRuns = std::vector<uint64_t>;

double part_of(const PartRuns& parts, int member) {
  const auto run =
      std::upper_bound(parts.begin(), parts.end(), static_cast<uint64_t>(member),
                       [](uint64_t at, uint64_t packed) { return at < Part::of(packed).members; });
  return run == parts.end() ? 0 : static_cast<double>(Part::of(*run).bytes);
}

/// A collective, from the records of its members. The payload is that of the replay
/// (collective_plays.h).
struct Collective {
  CollectiveOp op{};
  int root = 0;
  int members = 0;  ///< in the archive
  double payload = 0;
  bool needs_mean = false;
  std::optional<double> entered;  ///< by the last member, if it creates a handle; recorded ticks
  // Of operations with parts, by member:
  std::vector<double> own;            ///< bytes that it gives, or gets
  std::vector<const PartRuns*> each;  ///< bytes for each member; null, or no list: `own`

  static bool goes_to_each(CollectiveOp op) {
    return op == CollectiveOp::kAlltoallv || op == CollectiveOp::kAlltoallw;
  }
  bool has_parts() const {
    return goes_to_each(op) || op == CollectiveOp::kGatherv || op == CollectiveOp::kScatterv ||
           op == CollectiveOp::kAllgatherv || op == CollectiveOp::kReduceScatter;
  }

  /// `known`: calls with equal parts share them, as p members have p * p.
  void add(const TraceDefinitions& trace, const Action& action, int local, double enter,
           std::set<PartRuns>& known) {
    const int p = trace.comms[action.comm].size();
    const bool starts = action.kind == ActionKind::kStartCollective;
    if (action.op == CollectiveOp::kCreateHandle) {
      op = CollectiveOp::kAllgather;
      payload = kHandleBytes;
      entered = std::max(entered.value_or(enter), enter);
    }
    double one =
        starts ? std::bit_cast<double>(action.start.payload) : priced_bytes(trace, action, local);
    double part = one;
    if (const auto told = starts ? std::nullopt : own_part(trace, action))
      std::tie(part, one) = std::pair(told->own, told->mean);
    if (goes_to_each(op) && !starts && action.collective.sent < action.collective.received)
      part *= static_cast<double>(action.collective.sent) /
              static_cast<double>(action.collective.received);
    if (action.flags & (kGivesNothing | kNoPart)) part = 0;
    needs_mean |=
        starts ? (action.flags & kUneven) != 0 : op == CollectiveOp::kReduceScatter && part != one;
    ++members;
    const Synchronisation how = synchronisation(op);
    const bool tells = how == Synchronisation::kOneToAll
                           ? local == root
                           : how != Synchronisation::kPrefix || local == 0;
    if (tells) payload = std::max(payload, one);
    if (!has_parts()) return;
    own.resize(p);
    own[local] = part;
    if (!(action.flags & kHasParts)) return;
    PartRuns parts;
    uint64_t end = 0;
    for_each_part(action, [&](const Part& equal) {
      end = std::min<uint64_t>(p, end + equal.members);
      parts.push_back(Part{end, equal.bytes}.packed());
    });
    each.resize(p);
    each[local] = &*known.insert(std::move(parts)).first;
  }

  /// The payload by which the algorithm is chosen; each member of a Gatherv knows only its part.
  double payload_of_all() const {
    if (op == CollectiveOp::kGatherv) return 0;
    if (!needs_mean) return payload;
    double sum = 0;
    for (const double part : own) sum += part;
    return sum / members;
  }

  /// Bytes of a message between members that are numbered from the root on.
  double bytes_of(const ScheduledMessage& message) const {
    if (!has_parts()) return message.bytes * payload;
    const auto parts_of = [&](int member) { return each.empty() ? nullptr : each[member]; };
    if (goes_to_each(op)) {
      const PartRuns* const parts = parts_of(message.from);
      return parts ? part_of(*parts, message.to) : own[message.from];
    }
    const PartRuns* const spread = op == CollectiveOp::kScatterv ? parts_of(root) : nullptr;
    const bool is_share = message.first == ScheduledMessage::kShare;
    const auto count = is_share ? members : static_cast<int>(std::lround(message.bytes));
    double bytes = 0;
    for (int i = 0; i < count; ++i) {
      const int block = ((is_share ? 0 : message.first) + i + root) % members;
      bytes += spread ? part_of(*spread, block) : own[block];
    }
    return is_share ? bytes * message.bytes / members : bytes;
  }
};

/// Writes rank after rank.
class Goal {
 public:
  /// `log`: of a replay of `scenario`.
  Goal(EventSource& source, const CallLog& log, const Scenario& scenario,
       const RecordingOverhead& overhead, GoalCollectives how)
      : inside_((overhead.inside_before + overhead.inside_after) *
                source.definitions().ticks_per_second),
        source_(&source),
        log_(&log),
        trace_(&source.definitions()),
        scenario_(&scenario),
        how_(how) {}

  void write(const std::function<void(const std::string&)>& write) {
    source_->rewind();
    for (rank_ = 0; rank_ < trace_->ranks(); ++rank_) {
      LoggedCall first;
      if (CallLog::Reader(*log_, rank_).next(first)) start_ = std::min(start_, first.leave);
      each_call([&](const Call& call, const Block& block, double) {
        if (is_computation(call)) return;
        for (const Action& action : block.actions_of(call)) {
          const Communicator& comm = comm_of(action);
          if (is_message(action)) ++channel_of(action).ends[action.kind == ActionKind::kPost];
          if (is_between_members(action) && comm.size() > 1)
            collective_of(action).add(*trace_, action, comm.local_rank(rank_), call.enter, parts_);
        }
      });
    }
    source_->rewind();
    next_.clear();
    write(fmt::format("num_ranks {}\n", trace_->ranks()));
    for (rank_ = 0; rank_ < trace_->ranks(); ++rank_) {
      text_ = fmt::format("rank {} {{\n", rank_);
      label_ = 0;
      after_.clear();
      requests_.clear();
      exact_ns_ = 0;
      written_ns_ = 0;
      each_call([&](const Call& call, const Block& block, double seconds) {
        exact_ns_ += perform(call, block, seconds) * 1e9;
        if (text_.size() < kPiece) return;
        write(text_);
        text_.clear();
      });
      compute();
      if (label_ == 0) operation("calc 0");
      write(text_ + "}\n");
    }
  }

  /// As write_goal().
  std::string lacks() const {
    std::string text;
    const auto note = [&](uint64_t count, const char* what) {
      if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, what);
    };
    note(kept_calls_, "calls are computation of their recorded length");
    note(lone_sends_, "sends without a receive are left out");
    note(lone_receives_, "receives without a send are left out");
    note(lone_collectives_, "calls of collectives that others do not call are left out");
    return text;
  }

 private:
  struct Dependency {
    uint64_t label;
    bool started;  ///< until it has started, not ended
  };
  /// Messages from a rank to another one on a communicator with a tag; sends, receives.
  struct Channel {
    std::array<uint64_t, 2> ends{}, written{};
  };
  using Sequence = std::pair<uint32_t, uint32_t>;  ///< communicator, number of a persistent one
  using Messages = std::shared_ptr<const CollectiveProgram>;

  static constexpr size_t kMostPrograms = 64;
  static constexpr size_t kPiece = 1 << 16;
  static constexpr int kNoStep = std::numeric_limits<int>::max();
  // Tags: those of MPI_COMM_WORLD, if they are small; numbers for the others; collectives.
  static constexpr uint32_t kOtherTags = 1 << 20;
  static constexpr uint32_t kCollectiveTags = 1 << 30;

  /// Adds up the computation between the calls of the rank from MPI_Init to MPI_Finalize, and
  /// passes each call to `take`, with its length in the scenario.
  template <typename Take>
  void each_call(Take take) {
    CallLog::Reader log(*log_, rank_);
    LoggedCall logged;
    bool more = log.next(logged);
    bool begun = logged.role != CallRole::kInit;
    double last = start_;
    Block block;
    while (more && source_->read(rank_, block)) {
      for (const Call& call : block.calls) {
        block.take_up(call);
        const bool inits = call.role == CallRole::kInit;
        begun = begun || inits;
        if (!begun) continue;
        exact_ns_ += ((inits ? logged.leave : logged.enter) - last) * 1e9;
        if (call.role == CallRole::kFinalize) return;
        if (!inits) take(call, block, logged.leave - logged.enter);
        last = logged.leave;
        more = log.next(logged);
        if (!more) return;
      }
    }
  }

  const Communicator& comm_of(const Action& action) const { return trace_->comms[action.comm]; }
  bool is_computation(const Call& call) const {
    return call.role != CallRole::kMpi || call.is_kept() || trace_->timelines() == 1;
  }
  bool is_between_members(const Action& action) const {
    const Communicator& comm = comm_of(action);
    return (action.kind == ActionKind::kCollective ||
            action.kind == ActionKind::kStartCollective) &&
           !comm.window && !comm.inter && comm.first_group == 0 && comm.local_rank(rank_) >= 0;
  }

  /// That of a message of the rank.
  Channel& channel_of(const Action& action) {
    const auto [from, to] = action.kind == ActionKind::kPost
                                ? std::pair(action.message.peer, rank_)
                                : std::pair(rank_, action.message.peer);
    return channels_[{from, to, action.comm, action.message.tag}];
  }

  /// The next collective of the rank on the communicator.
  Collective& collective_of(const Action& action) {
    const bool starts = action.kind == ActionKind::kStartCollective;
    const Sequence sequence{action.comm, starts ? action.start.persistent : 0};
    std::vector<uint32_t>& numbers = numbers_[sequence];
    const uint32_t order = next_[{rank_, sequence}]++;
    if (order == numbers.size()) {
      numbers.push_back(static_cast<uint32_t>(collectives_.size()));
      const int root = starts ? action.start.root : action.collective.root;
      const bool has_root = is_rooted(action.op) && root >= 0 && root < comm_of(action).size();
      collectives_.emplace_back();
      collectives_.back().op = action.op;
      collectives_.back().root = has_root ? root : 0;
    }
    return collectives_[numbers[order]];
  }

  /// Returns the computation in the call, seconds.
  double perform(const Call& call, const Block& block, double seconds) {
    if (is_computation(call)) {
      kept_calls_ += call.role == CallRole::kMpi && !(call.spinning & kSpinning) &&
                     trace_->calls[call.name].without_records == CallClass::kCommunicates;
      return seconds;
    }
    const Lost lost = call.spinning & kLoses ? lost_in(block.actions_of(call)) : Lost{};
    const auto since = [&](double begin) {
      return std::max(0.0, call.leave - begin - lost.flushing - lost.stolen - inside_);
    };
    double own = lost.own + lost.packing;
    bool omits = false, keeps = false, does = false;
    for (const Action& action : block.actions_of(call)) {
      switch (action.kind) {
        case ActionKind::kNone:
        case ActionKind::kTested:
        case ActionKind::kProbe:  // the receive after it waits
        case ActionKind::kParts:
        case ActionKind::kLost:
          break;
        case ActionKind::kSend:
        case ActionKind::kPost:
          (message(action) ? does : keeps) = true;
          break;
        case ActionKind::kWaitSend:
        case ActionKind::kWaitReceive:
        case ActionKind::kWaitCollective:
          does = true;
          compute();
          for (const uint64_t label : requests_[action.request.slot]) wait_for(label);
          requests_.erase(action.request.slot);
          break;
        case ActionKind::kOneSided:
        case ActionKind::kFetch:
        case ActionKind::kOneSidedDone:
        case ActionKind::kEpoch:
        case ActionKind::kLock:
        case ActionKind::kUnlock:
        case ActionKind::kThreadStep:
        case ActionKind::kAwaitThread:
          omits = true;
          break;
        case ActionKind::kCollective:
        case ActionKind::kStartCollective:
          if (!is_between_members(action)) {
            omits = true;
          } else if (comm_of(action).size() <= 1) {
            return seconds;
          } else {
            const Collective& known = collective_of(action);
            (collective(action, known) ? does : keeps) = true;
            // What follows the enter of the last member is own work, as in the replay.
            if (known.entered && action.kind == ActionKind::kCollective)
              own = since(std::max(call.enter, *known.entered));
          }
      }
    }
    end_together();
    kept_calls_ += omits;
    const double faster =
        scenario_->cpu * scenario_->processor_factor(rank_, trace_->node_of_rank[rank_]);
    const double ticks = (omits || keeps) && !does ? since(call.enter) : own / faster;
    return ticks / trace_->ticks_per_second;
  }

  /// False: it lacks its other end, for which the call waited.
  bool message(const Action& action) {
    const bool posts = action.kind == ActionKind::kPost;
    Channel& channel = channel_of(action);
    if (channel.written[posts]++ >= std::min(channel.ends[0], channel.ends[1])) {
      ++(posts ? lone_receives_ : lone_sends_);
      requests_.erase(action.message.slot);
      return !posts || !(action.flags & kBlocking);
    }
    const uint64_t label = message(!posts, action.message.bytes, action.message.peer,
                                   tag_of(action.comm, action.message.tag));
    if (action.flags & kBlocking && !(action.flags & kBuffered)) together_.push_back(label);
    if (action.message.slot != kNoSlot) requests_[action.message.slot] = {label};
    return true;
  }
  /// The computation so far. The sum is rounded, not its parts.
  void compute() {
    const int64_t ns = std::llround(exact_ns_) - written_ns_;
    if (ns <= 0) return;
    written_ns_ += ns;
    after_ = {{operation(fmt::format("calc {}", ns)), false}};
  }
  uint64_t message(bool sends, uint64_t bytes, int peer, uint32_t tag) {
    compute();
    // In LogGOPSim the first byte is free, and a message without one less than free.
    const uint64_t label =
        operation(fmt::format("{} {}b {} {} tag {}", sends ? "send" : "recv",
                              std::max<uint64_t>(bytes, 1), sends ? "to" : "from", peer, tag));
    after_ = {{label, true}};
    return label;
  }
  uint64_t operation(const std::string& what) {
    auto out = std::back_inserter(text_);
    fmt::format_to(out, "l{}: {}\n", ++label_, what);
    for (const Dependency& each : after_)
      fmt::format_to(out, "l{} {} l{}\n", label_, each.started ? "irequires" : "requires",
                     each.label);
    return label_;
  }
  void wait_for(uint64_t label) {
    std::erase_if(after_, [&](const Dependency& each) { return each.label == label; });
    after_.push_back({label, false});
  }
  /// The call, or the step of a collective, ends.
  void end_together() {
    for (const uint64_t label : together_) wait_for(label);
    together_.clear();
  }
  uint32_t tag_of(uint32_t comm, uint32_t tag) {
    if (static_cast<int>(comm) == trace_->world && tag < kOtherTags) return tag;
    const auto next = static_cast<uint32_t>(kOtherTags + tags_.size());
    return tags_.try_emplace({comm, tag}, next).first->second;
  }

  /// A member's messages: those of a step together, and a step after the other. False: others do
  /// not call it.
  bool collective(const Action& action, const Collective& known) {
    const MemberList& ranks = comm_of(action).members;
    const auto p = static_cast<int>(ranks.size());
    bool as_one = how_ == GoalCollectives::kOne, skips_empty = known.has_parts();
    const Messages messages =
        known.members == p ? messages_of(known, p, as_one, skips_empty) : nullptr;
    if (!messages) {
      ++lone_collectives_;
      return false;
    }
    compute();
    const int local = comm_of(action).local_rank(rank_);
    const int number = (local - known.root + p) % p;
    const auto tag = static_cast<uint32_t>(kCollectiveTags + (&known - collectives_.data()));
    const auto rank_at = [&](int member) { return ranks[(member + known.root) % p]; };
    std::vector<Dependency> behind = after_;
    std::vector<uint64_t> last;
    uint32_t send = messages->first_send[number], receive = messages->first_receive[number];
    const auto step_at = [&](const std::vector<uint32_t>& list, uint32_t at,
                             const std::vector<uint32_t>& first) {
      return at < first[number + 1] ? messages->messages[list[at]].step : kNoStep;
    };
    while (true) {
      const int next_send = step_at(messages->sends, send, messages->first_send);
      const int next_receive = step_at(messages->receives, receive, messages->first_receive);
      const int step = std::min(next_send, next_receive);
      if (!together_.empty() && (step == kNoStep || step > step_)) {
        if (last.empty()) behind = after_;
        last = together_;
        end_together();
      }
      if (step == kNoStep) break;
      step_ = step;
      const bool sends = next_send == step;
      const ScheduledMessage& each =
          messages->messages[sends ? messages->sends[send++] : messages->receives[receive++]];
      const double bytes = as_one ? known.payload : known.bytes_of(each);
      if (!as_one && skips_empty && bytes == 0 && each.bytes > 0) continue;
      together_.push_back(message(sends, static_cast<uint64_t>(std::llround(bytes)),
                                  rank_at(sends ? each.to : each.from), tag));
    }
    if (action.kind == ActionKind::kStartCollective) {
      after_ = behind;
      requests_[action.start.slot] = last;
    }
    return true;
  }

  /// Of the algorithm, unless it has too many: then, or with `as_one` (which is set), of a tree.
  Messages messages_of(const Collective& known, int p, bool& as_one, bool& skips_empty) {
    std::vector<AlgorithmChoice> choices = {{Algorithm::kTree, 0}};
    if (!as_one) {
      choices =
          schedule_choices(known.op, scenario_->platform.collectives, p, known.payload_of_all());
      skips_empty = skips_empty && choices[0].algorithm != Algorithm::kPairwise;
    }
    std::vector<std::pair<int, double>> key;
    for (const AlgorithmChoice& choice : choices)
      key.emplace_back(static_cast<int>(choice.algorithm), choice.segment);
    const CollectiveOp op = as_one ? CollectiveOp::kBarrier : known.op;
    if (programs_.size() > kMostPrograms) programs_.clear();
    const auto [found, is_new] = programs_.try_emplace({op, p, key});
    if (is_new) {
      auto messages = unit_schedule(op, choices, p);
      if (messages.size() <= kMostScheduled)
        found->second = std::make_shared<CollectiveProgram>(std::move(messages), p);
    }
    if (found->second || as_one) return found->second;
    as_one = true;
    return messages_of(known, p, as_one, skips_empty);
  }

  double inside_;  ///< ticks that recording added to each call
  EventSource* source_;
  const CallLog* log_;
  const TraceDefinitions* trace_;
  const Scenario* scenario_;
  GoalCollectives how_;
  double start_ = std::numeric_limits<double>::infinity();  ///< of the first rank, seconds
  std::vector<Collective> collectives_;
  std::set<PartRuns> parts_;                           ///< of the collectives
  std::map<Sequence, std::vector<uint32_t>> numbers_;  ///< into collectives_, in order
  std::map<std::pair<int, Sequence>, uint32_t> next_;  ///< by rank
  std::map<std::tuple<int, int, uint32_t, uint32_t>, Channel> channels_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> tags_;
  std::map<std::tuple<CollectiveOp, int, std::vector<std::pair<int, double>>>, Messages> programs_;
  uint64_t kept_calls_ = 0, lone_sends_ = 0, lone_receives_ = 0, lone_collectives_ = 0;
  // Of the rank that is written:
  int rank_ = 0;
  int step_ = 0;
  std::string text_;
  uint64_t label_ = 0;
  std::vector<Dependency> after_;   ///< what the next operation waits for
  std::vector<uint64_t> together_;  ///< operations for whose end the call, or its step, waits
  std::unordered_map<uint32_t, std::vector<uint64_t>> requests_;  ///< labels by slot
  double exact_ns_ = 0;
  int64_t written_ns_ = 0;
};

}  // namespace

std::string write_goal(EventSource& source, const Scenario& scenario, ReplayOptions options,
                       GoalCollectives collectives,
                       const std::function<void(const std::string&)>& write) {
  const TraceDefinitions& trace = source.definitions();
  if (trace.timelines() > trace.ranks()) {
    throw InputError(
        fmt::format("{}: {} communicates beside the rank's main thread, which a GOAL "
                    "schedule cannot express",
                    trace.path, trace.name_of(trace.ranks())));
  }
  CallLog log(trace, Placement(trace.node_of_rank, trace.socket_of_rank));
  options.observers = {&log};
  const Results results = run_replay(source, {scenario}, options);
  if (!results.scenarios[0].deadlock.empty())
    throw InputError(trace.path + ": the replay deadlocks:\n" + results.scenarios[0].deadlock);
  Goal goal(source, log, scenario, options.subtracted(trace.overhead), collectives);
  goal.write(write);
  return goal.lacks();
}

}  // namespace rubato
