#include "replay/sources/joined_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "models/base/error.h"
#include "tracer/archive/schema.h"

namespace rubato {
namespace {

/// Libraries that bypassed the tracer in any of the jobs; unknown if one of them does not have the
/// information.
void join_unwatched(std::map<std::string, std::string>& all,
                    const std::map<std::string, std::string>& more) {
  const auto first = all.find(schema::kUnwatched);
  const auto next = more.find(schema::kUnwatched);
  if (first == all.end()) return;
  if (next == more.end()) {
    all.erase(first);
  } else if (first->second == "none") {
    first->second = next->second;
  } else if (next->second != "none" && next->second != first->second) {
    first->second += ", " + next->second;
  }
}

/// The list with each rank shifted; equal lists stay shared.
class MovedMembers {
 public:
  explicit MovedMembers(int by) : by_(by) {}

  MemberList moved(const MemberList& members) {
    const auto [entry, is_new] =
        known_.try_emplace(std::pair(members.ranks().data(), members.size()));
    if (is_new) {
      std::vector<int32_t> ranks = members.copy();
      for (int32_t& rank : ranks) rank += by_;
      entry->second = MemberList(std::move(ranks));
    }
    return entry->second;
  }

 private:
  int by_;
  std::map<std::pair<const int32_t*, size_t>, MemberList> known_;
};

class JoinedSource : public EventSource {
 public:
  JoinedSource(EventSource& first, const std::vector<JoinedJob>& others) {
    definitions_ = first.definitions();
    parts_.push_back({.source = &first});
    for (const JoinedJob& other : others) add(other);
    number_timelines();
  }

  const TraceDefinitions& definitions() const override { return definitions_; }

  void load(const std::function<void(double)>& progress) override {
    const auto parts = static_cast<double>(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].source->load([&](double share) {
        if (progress) progress((static_cast<double>(i) + share) / parts);
      });
    }
    find_begins();
  }

  bool read(int timeline, Block& block) override {
    find_begins();
    const Place& place = places_[timeline];
    Part& part = parts_[place.part];
    if (place.part == 0) return part.source->read(place.timeline, block);
    Block& own = part.blocks[place.timeline];
    if (!part.source->read(place.timeline, own)) return false;
    translate(part, own, block);
    return true;
  }

  CallUnpacker* unpacker(int timeline) override {
    const Place& place = places_[timeline];
    return place.part == 0 ? parts_[0].source->unpacker(place.timeline) : nullptr;
  }

  void rewind() override {
    for (Part& part : parts_) part.source->rewind();
  }

  void keep_records(bool keep) override { parts_[0].source->keep_records(keep); }
  std::vector<double> side_records(const SideLocation& location) override {
    return parts_[0].source->side_records(location);
  }

  Counts counts() const override {
    Counts sum;
    for (const Part& part : parts_) sum += part.source->counts();
    return sum;
  }

  bool looks_at_posts() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.source->looks_at_posts(); });
  }

  std::vector<FunctionName> functions() const override { return parts_[0].source->functions(); }
  void time_functions(const std::vector<std::string>& names) override {
    parts_[0].source->time_functions(names);
  }
  const FunctionTimes* function_times() const override {
    const FunctionTimes* own = parts_[0].source->function_times();
    if (!own) return nullptr;
    function_times_.emplace(definitions_.timelines());
    for (int timeline = 0; timeline < definitions_.timelines(); ++timeline) {
      const Place& place = places_[timeline];
      if (place.part == 0) function_times_->of(timeline) = own->of(place.timeline);
    }
    return &*function_times_;
  }

 private:
  struct Part {
    EventSource* source;
    double start = 0;  ///< ticks after the begin of the first job
    int first_rank = 0;
    uint32_t first_comm = 0;
    size_t first_call = 0;
    double ratio = 1;             ///< ticks of the first job's clock per tick of its own
    double from = 0, to = 0;      ///< `from` in its own ticks is `to` in those of the first job
    std::vector<Block> blocks{};  ///< by timeline: the last block read

    double time(double own) const {
      return ratio == 1 ? own - from + to : std::round((own - from) * ratio) + to;
    }
  };
  /// A timeline of one job.
  struct Place {
    size_t part;
    int timeline;
  };

  void add(const JoinedJob& other) {
    const TraceDefinitions& more = other.source->definitions();
    TraceDefinitions& all = definitions_;
    if (more.sizes != all.sizes) {
      throw InputError(more.path + ": its tracer counts the bytes of collectives in another way " +
                       "than that of " + all.path + "; they cannot be replayed side by side");
    }
    Part part{.source = other.source};
    part.start = std::round(other.start * all.ticks_per_second);
    part.first_rank = all.ranks();
    part.first_comm = static_cast<uint32_t>(all.comms.size());
    part.first_call = all.calls.size();
    part.ratio = all.ticks_per_second / more.ticks_per_second;
    part.blocks.resize(more.timelines());
    if (all.calls.size() + more.calls.size() > std::numeric_limits<uint16_t>::max())
      throw InputError(more.path + ": with its MPI calls there are too many different ones");
    int nodes = 0, sockets = 0;
    for (const int node : all.node_of_rank) nodes = std::max(nodes, node + 1);
    for (const int socket : all.socket_of_rank) sockets = std::max(sockets, socket + 1);
    std::vector<uint64_t> location_of_rank = all.location_of_rank.copy();
    std::vector<int> node_of_rank = all.node_of_rank.copy();
    std::vector<int> socket_of_rank = all.socket_of_rank.copy();
    if (!more.socket_of_rank.empty()) socket_of_rank.resize(all.ranks(), kNoSocket);
    for (int rank = 0; rank < more.ranks(); ++rank) {
      location_of_rank.push_back(more.location_of_rank[rank]);
      node_of_rank.push_back(nodes + more.node_of_rank[rank]);
      if (socket_of_rank.empty()) continue;
      const int socket = more.socket_of_rank.empty() ? kNoSocket : more.socket_of_rank[rank];
      socket_of_rank.push_back(socket == kNoSocket ? kNoSocket : sockets + socket);
    }
    all.location_of_rank = std::move(location_of_rank);
    all.node_of_rank = std::move(node_of_rank);
    all.socket_of_rank = std::move(socket_of_rank);
    MovedMembers members(part.first_rank);
    for (Communicator comm : more.comms) {
      comm.members = members.moved(comm.members);
      all.comms.push_back(std::move(comm));
    }
    all.calls.insert(all.calls.end(), more.calls.begin(), more.calls.end());
    std::vector<Thread> threads = all.threads.copy();
    for (Thread thread : more.threads) {
      thread.rank += part.first_rank;
      threads.push_back(thread);
    }
    all.threads = std::move(threads);
    all.wildcards = WildcardsKnown::kNone;  // they are not matched again
    join_unwatched(all.properties, more.properties);
    all.one_clock = false;
    parts_.push_back(std::move(part));
  }

  void number_timelines() {
    places_.resize(definitions_.timelines());
    int next_thread = definitions_.ranks();
    for (size_t i = 0; i < parts_.size(); ++i) {
      const TraceDefinitions& own = parts_[i].source->definitions();
      for (int timeline = 0; timeline < own.timelines(); ++timeline) {
        const bool is_main = timeline < own.ranks();
        places_[is_main ? parts_[i].first_rank + timeline : next_thread++] = {i, timeline};
      }
    }
  }

  /// The time of the first record, in its own ticks; the source stays at its start.
  static double begin_of(EventSource& source) {
    double begin = std::numeric_limits<double>::infinity();
    for (int timeline = 0; timeline < source.definitions().timelines(); ++timeline) {
      Block block;
      if (source.read(timeline, block) && !block.calls.empty())
        begin = std::min(begin, block.calls.front().enter);
    }
    source.rewind();
    return std::isfinite(begin) ? begin : 0;
  }

  void find_begins() {
    if (has_begins_) return;
    has_begins_ = true;
    const double begin = begin_of(*parts_[0].source);
    for (size_t i = 1; i < parts_.size(); ++i) {
      parts_[i].from = begin_of(*parts_[i].source);
      parts_[i].to = begin + parts_[i].start;
    }
  }

  static void translate(const Part& part, Action& action) {
    switch (action.kind) {
      case ActionKind::kNone:
        break;
      case ActionKind::kSend:
      case ActionKind::kPost:
      case ActionKind::kProbe:
        action.message.peer += part.first_rank;
        break;
      case ActionKind::kEpoch:
        action.epoch.peer += part.first_rank;
        break;
      case ActionKind::kOneSided:
      case ActionKind::kLock:
      case ActionKind::kUnlock:
        if (action.one_sided.target != kNoRoot) action.one_sided.target += part.first_rank;
        break;
      case ActionKind::kCollective:
      case ActionKind::kStartCollective:
      case ActionKind::kWaitCollective:
      case ActionKind::kParts:
      case ActionKind::kFetch:
      case ActionKind::kOneSidedDone:
        break;
      case ActionKind::kLost: {
        if (is_packing(action)) return;
        const auto ticks = std::round(static_cast<double>(action.lost.ticks()) * part.ratio);
        action.lost = LostAction::of(static_cast<uint64_t>(ticks));
        return;
      }
      case ActionKind::kWaitSend:
      case ActionKind::kWaitReceive:
      case ActionKind::kTested:
      case ActionKind::kThreadStep:
      case ActionKind::kAwaitThread:
        return;  // of slots and threads, which each part has to itself
    }
    action.comm += part.first_comm;
  }

  /// Gives each call actions of its own.
  static void translate(const Part& part, Block& own, Block& block) {
    block.clear();
    block.common.reset();
    for (const Call& recorded : own.calls) {
      own.take_up(recorded);
      Call& call = block.calls.emplace_back(recorded);
      call.enter = part.time(recorded.enter);
      call.leave = part.time(recorded.leave);
      call.name = static_cast<uint16_t>(part.first_call + recorded.name);
      call.first_request = kNoRequests;
      call.first_record = 0;
      call.first_action &= ~(kCommonActions | kActionIndex);
      call.first_action |= static_cast<uint32_t>(block.actions.size());
      for (const Action& action : own.actions_of(recorded)) {
        block.actions.push_back(action);
        translate(part, block.actions.back());
      }
    }
  }

  TraceDefinitions definitions_;
  std::vector<Part> parts_;
  std::vector<Place> places_;  ///< by timeline
  bool has_begins_ = false;
  mutable std::optional<FunctionTimes> function_times_;
};

}  // namespace

std::unique_ptr<EventSource> join_jobs(EventSource& first, const std::vector<JoinedJob>& others) {
  return std::make_unique<JoinedSource>(first, others);
}

}  // namespace rubato
