#pragma once

// Groups the collective calls of a communicator's members into instances. MPI requires that every
// member calls the collectives of a communicator in the same order, so the k-th calls of all
// members are one instance. A member's calls may come from several threads. For persistent
// collectives this order holds for their inits only; their starts are counted separately, if the
// archive identifies the collective.
//
// In an Alltoallv or Alltoallw a member waits for the members that send it something, if the
// archive has the parts. These are known only when all members have entered, so the replay
// continues at that point; the times do not depend on the other members. No member waits for a
// member of an Allgatherv without elements. A member that receives no elements, as in a
// Reduce_scatter, may leave once its own part is on its way; it did so if it was recorded to leave
// before the last member entered.
//
// On an intercommunicator the members are those of both groups. A member waits for the other group
// or its root; only the creation of a communicator waits for both groups. In the root's group only
// the root takes part: the others neither wait nor are waited for.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/collective/collectives.h"
#include "replay/matching/landings.h"
#include "replay/matching/origin.h"
#include "replay/trace/operation.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The members that have entered a collective, or those of one group.
template <int K>
struct Arrivals {
  int count = 0;
  /// Latest enter of the members that take part.
  Lanes<K> last = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  double recorded_last = -std::numeric_limits<double>::infinity();
  /// Timeline of the member that entered last, in the first lane; the lowest of several, because
  /// the order of their arrival depends on the run queue.
  int32_t latest = -1;

  void add(double recorded, const Lanes<K>& enter, int timeline) {
    if (enter[0] > last[0] || (enter[0] == last[0] && timeline < latest)) latest = timeline;
    last = last.max(enter);
    recorded_last = std::max(recorded_last, recorded);
    ++count;
  }
  /// Adds the members of another process; no member is in both.
  void add(const Arrivals& others) {
    const bool any = others.latest >= 0;
    const bool is_later = others.last[0] > last[0];
    if (any && (is_later || latest < 0 || (others.last[0] == last[0] && others.latest < latest)))
      latest = others.latest;
    last = last.max(others.last);
    recorded_last = std::max(recorded_last, others.recorded_last);
    count += others.count;
  }
};

/// When the ports of a rank have moved all messages so far, in ticks; before all times if there
/// were none.
template <int K>
struct PortTimes {
  Lanes<K> out = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  Lanes<K> in = out;
};

/// One member that has entered a collective whose messages are played (rules/collective_plays.h).
template <int K>
struct Entered {
  int32_t local = 0;
  int32_t timeline = 0;
  double payload = 0;  ///< as recorded
  Lanes<K> enter = Lanes<K>::Zero();
  PortTimes<K> ports = {};
};

/// Members of some processes: their sum, and each one where messages are played.
template <int K>
struct Came {
  Arrivals<K> arrivals;
  std::vector<Entered<K>> each;

  void add(const Came& others) {
    arrivals.add(others.arrivals);
    each.insert(each.end(), others.each.begin(), others.each.end());
  }
};

/// For each member, the latest enter among the members that send it something.
template <int K>
class PartArrivals {
 public:
  bool empty() const { return nodes_.empty(); }

  /// A member that entered at `enter` sends something to the members from `first` to before `end`,
  /// out of `members`.
  void add(int members, int first, int end, double recorded, const Lanes<K>& enter, int timeline) {
    if (nodes_.empty()) nodes_.resize(2 * static_cast<size_t>(members));
    // A tree over the members: nodes 2 i and 2 i + 1 are the children of i, the members are the
    // leaves.
    first += members;
    end += members;
    for (; first < end; first /= 2, end /= 2) {
      if (first % 2) nodes_[first++].add(recorded, enter, timeline);
      if (end % 2) nodes_[--end].add(recorded, enter, timeline);
    }
  }

  /// Raises `recorded` and `enter` to those of the latest sender to `member`.
  void latest(int member, double& recorded, Lanes<K>& enter) const {
    for (size_t node = nodes_.size() / 2 + member; node > 0; node /= 2) {
      recorded = std::max(recorded, nodes_[node].recorded_last);
      enter = enter.max(nodes_[node].last);
    }
  }

  /// The same in the first lane: enter and timeline (-1: none).
  std::pair<double, int32_t> latest_in_first_lane(int member) const {
    std::pair<double, int32_t> found = {-std::numeric_limits<double>::infinity(), -1};
    for (size_t node = nodes_.size() / 2 + member; node > 0; node /= 2) {
      const Arrivals<K>& some = nodes_[node];
      const bool is_later = some.last[0] > found.first;
      if (is_later || (some.last[0] == found.first && some.latest < found.second))
        found = {some.last[0], some.latest};
    }
    return found;
  }

 private:
  std::vector<Arrivals<K>> nodes_;
};

/// One collective call of all members.
template <int K>
struct CollectiveInstance {
  CollectiveOp op = CollectiveOp::kBarrier;
  Synchronisation how = Synchronisation::kAllToAll;  ///< synchronisation of `op`
  int32_t root = -1;                                 ///< local rank
  Arrivals<K> arrived;
  std::vector<Arrivals<K>> groups;  ///< of groups A and B, in an intercommunicator
  int departed = 0;
  int prefix = 0;  ///< the members with local ranks below it have all entered
  bool root_arrived = false;
  bool passed_on = false;  ///< a relay among processes is under way (relay.h)
  bool abandoned = false;  ///< a member will never enter: waiting members keep their recorded time
  Lanes<K> root_enter = Lanes<K>::Zero();
  double recorded_root_enter = 0;
  int32_t root_timeline = -1;
  double recorded_first_leave = 0;
  int first_rank = 0;      ///< world rank of the first member that entered, for error messages
  std::vector<char> here;  ///< by local rank: has entered
  // Prefix operations only: enters by local rank; up to `prefix`, the latest of all up to this
  // rank.
  std::vector<Lanes<K>> enters;
  std::vector<double> recorded_enters;
  std::vector<int32_t> latest_of;  ///< timelines of those enters, in the first lane
  std::vector<int32_t> waiting;    ///< timelines to wake
  PartArrivals<K>
      parts;  ///< from members that send to only some members; they are not in `arrived.last`
  /// Of a fence in a model, by local rank: when the operations with this member as target have
  /// landed. Empty without such operations.
  std::vector<Dated<K>> arrivals;
  bool window = false;  ///< on a window
  /// In the order of time, by local rank: operations with this member as target that may be under
  /// way.
  std::vector<std::vector<std::shared_ptr<Landing>>> landings;
  /// A member whose call lost time: the recorded call and its losses.
  struct LostInCall {
    int local;
    double enter, leave;
    Lost lost;
  };
  std::vector<LostInCall> losses;
  int32_t play = -1;  ///< its number if messages are played (collective_plays.h)

  /// True when a member was recorded to leave the fence before all had entered (windows.h): it did
  /// not synchronise.
  bool held_nobody() const { return window && recorded_first_leave < arrived.recorded_last; }

  /// The members that `local` waits for in an all-to-all: all members, or the other group.
  const Arrivals<K>& awaited_by(int local, const Communicator& comm) const {
    if (groups.empty() || op == CollectiveOp::kCreateHandle) return arrived;
    return groups[local < comm.first_group ? 1 : 0];
  }
  /// True when `local` waits for the root.
  bool waits_for_root(int local, const Communicator& comm) const {
    return local != root && root >= 0 && (groups.empty() || comm.across(local, root));
  }
  /// True when `local` waits for the root alone, even where the root and its children wait for each
  /// other.
  bool waits_for_root_alone(int local, const Communicator& comm) const {
    return !groups.empty() && is_rooted(op) && waits_for_root(local, comm);
  }
};

/// The timeline that member `local` waits for longest, if the operation synchronises as `how`; in
/// the first lane. -1: none.
template <int K>
int latest_member(const CollectiveInstance<K>& instance, Synchronisation how, int local,
                  const Communicator& comm) {
  if (how == Synchronisation::kOneToAll) return instance.root_timeline;
  if (how == Synchronisation::kPrefix) return instance.latest_of[local];
  const Arrivals<K>& all = instance.awaited_by(local, comm);
  if (instance.parts.empty()) return all.latest;
  const auto [time, sender] = instance.parts.latest_in_first_lane(local);
  if (time == all.last[0] && sender >= 0 && all.latest >= 0) return std::min(sender, all.latest);
  return time > all.last[0] ? sender : all.latest;
}

template <int K>
class CollectiveInstances {
 public:
  explicit CollectiveInstances(const TraceDefinitions& trace)
      : trace_(&trace), comms_(trace.comms.size()) {}

  using Instance = CollectiveInstance<K>;
  struct Arrived {
    uint64_t number;
    Instance& instance;
  };

  /// Member `local` of a communicator enters a collective in `timeline`: the instance that `action`
  /// names, else its next one.
  Arrived arrive(const Action& action, int local, int world_rank, int timeline, const Call& call,
                 const Lanes<K>& enter) {
    const uint32_t comm = action.comm;
    const bool starts = action.kind == ActionKind::kStartCollective;
    const uint32_t order = starts ? action.start.order : action.collective.order;
    const uint64_t persistent = starts ? action.start.persistent : 0;
    const uint64_t series = persistent << kSeriesShift;
    State& state = persistent > 0 ? persistent_[{comm, persistent}] : comms_[comm];
    if (state.next.empty()) state.next.assign(trace_->comms[comm].size(), 0);
    const uint64_t place = order > 0 ? order - 1 : state.next[local]++;
    while (place >= state.first + state.instances.size()) state.instances.emplace_back();
    const uint64_t number = series | place;
    Instance& instance = get(comm, number);
    note(instance, action, local, world_rank, timeline, call, enter);
    return {number, instance};
  }

  /// The number of members of a communicator in this process.
  int local_members(uint32_t comm) const {
    return trace_->comms[comm].size() - (remote_members_.empty() ? 0 : remote_members_[comm]);
  }

  // --- Members in other processes (engine/exchange.h) ---

  /// Number of members in other processes, by communicator. REQUIRES: no arrivals so far.
  void divide(std::vector<int> remote) { remote_members_ = std::move(remote); }

  /// The instance `number`, which a member in another process has entered.
  Instance& reach(uint32_t comm, uint64_t number) {
    const uint64_t series = number >> kSeriesShift;
    State& state = series > 0 ? persistent_[{comm, series}] : comms_[comm];
    if (state.next.empty()) state.next.assign(trace_->comms[comm].size(), 0);
    const uint64_t place = number & kPlaceMask;
    while (place >= state.first + state.instances.size()) state.instances.emplace_back();
    return get(comm, number);
  }
  /// A member in another process has entered; parameters as for arrive().
  void arrive_elsewhere(Instance& instance, const Action& action, int local, int world_rank,
                        int timeline, const Call& call, const Lanes<K>& enter) {
    note(instance, action, local, world_rank, timeline, call, enter);
  }
  /// The root in another process has entered; it is still to be counted among the members.
  void arrive_root(Instance& instance, uint32_t comm, CollectiveOp op, int32_t root, int world_rank,
                   double recorded, int timeline, const Lanes<K>& enter) {
    begin(instance, comm, op, root, world_rank);
    instance.root_arrived = true;
    instance.root_enter = enter;
    instance.root_timeline = timeline;
    instance.recorded_root_enter = recorded;
  }
  /// Several members in other processes have entered, reported as one sum; the communicator has one
  /// group.
  void arrive_members(Instance& instance, uint32_t comm, CollectiveOp op, int32_t root,
                      int world_rank, const Arrivals<K>& members) {
    begin(instance, comm, op, root, world_rank);
    instance.arrived.add(members);
  }
  /// Forgets instances that were kept only for members in other processes.
  void forget_departed(uint32_t comm, uint64_t number) { forget(comm, state_of(comm, number)); }

  [[gnu::always_inline]] Instance& get(uint32_t comm, uint64_t number) {
    // Mostly the one of the last call.
    if (last_ && number == last_number_ && comm == last_comm_) return *last_;
    return look_up(comm, number);
  }

  /// True when all members that `local` waits for have entered, if the operation synchronises as
  /// `how`.
  [[gnu::always_inline]] static bool ready(const Instance& instance,
                                           const Communicator& communicator, int local,
                                           Synchronisation how) {
    // All have entered: the case of members woken by the last one. (The root may still be missing,
    // in an archive in which the root named by the others names another member of its group.)
    const bool rooted = instance.root >= 0 && !instance.root_arrived;
    if ((instance.arrived.count == communicator.size() && !rooted) || instance.abandoned)
      return true;
    switch (how) {
      case Synchronisation::kOneToAll:
        return instance.root_arrived || !instance.waits_for_root(local, communicator);
      case Synchronisation::kAllToOne:
        if (local != instance.root) return true;
        break;
      case Synchronisation::kPrefix:
        return instance.prefix > local;
      case Synchronisation::kAllToAll:
        if (instance.waits_for_root_alone(local, communicator)) return instance.root_arrived;
        break;
    }
    const Arrivals<K>& awaited = instance.awaited_by(local, communicator);
    const bool all = &awaited == &instance.arrived;
    return awaited.count == (all ? communicator.size() : communicator.peers(local));
  }

  /// True when the arrival of `local` may release a waiting member. In a large communicator most
  /// arrivals release none: all wait for the last one.
  static bool may_release(const Instance& instance, const Communicator& communicator, int local) {
    return local == instance.root || !instance.groups.empty() ||
           instance.how == Synchronisation::kPrefix ||
           instance.arrived.count == communicator.size();
  }

  /// A member leaves an instance, which is forgotten when all have left.
  void depart(uint32_t comm, uint64_t number, Instance& instance) {
    if (++instance.departed < trace_->comms[comm].size()) return;
    forget(comm, state_of(comm, number));
  }

  /// True when members called different operations, or named different roots, since the last call
  /// of this function.
  bool take_mismatch() { return std::exchange(mismatch_, false); }

 private:
  struct State {
    std::vector<uint64_t> next;  ///< by local rank: number of its next instance
    std::deque<Instance> instances;
    uint64_t first = 0;  ///< number of instances.front()
  };

  // The number of an instance: the persistent collective (0 for all others) and the place in its
  // series.
  static constexpr int kSeriesShift = 32;
  static constexpr uint64_t kPlaceMask = (uint64_t{1} << kSeriesShift) - 1;

  /// The first member that enters determines the operation and the root.
  void begin(Instance& instance, uint32_t comm, CollectiveOp op, int32_t root, int world_rank) {
    const Communicator& communicator = trace_->comms[comm];
    if (instance.here.empty()) {
      instance.op = op;
      instance.how = synchronisation(op);
      instance.root = root;
      instance.first_rank = world_rank;
      instance.window = communicator.window;
      instance.here.assign(communicator.size(), 0);
      if (!remote_members_.empty()) instance.departed = remote_members_[comm];
      if (communicator.first_group > 0) instance.groups.resize(2);
    }
    if (instance.root == kRootInOwnGroup) instance.root = root;  // this member may know the root
    if (instance.op != op || (instance.root != root && root != kRootInOwnGroup)) mismatch_ = true;
  }

  void note(Instance& instance, const Action& action, int local, int world_rank, int timeline,
            const Call& call, const Lanes<K>& enter) {
    const double recorded = call.enter;
    const bool starts = action.kind == ActionKind::kStartCollective;
    const int32_t root = starts ? action.start.root : action.collective.root;
    const Communicator& communicator = trace_->comms[action.comm];
    const int size = communicator.size();
    if (instance.here.empty()) instance.recorded_first_leave = call.leave;
    begin(instance, action.comm, action.op, root, world_rank);
    instance.recorded_first_leave = std::min(instance.recorded_first_leave, call.leave);
    const bool sends_to_some = action.flags & (kSendsToSome | kGivesNothing);
    const bool no_part = action.flags & kNoPart || root == kRootInOwnGroup;
    if (action.flags & kSendsToSome) {
      add_parts(action, local, communicator, recorded, enter, timeline, instance.parts);
    } else if (action.flags & kGivesNothing) {
      instance.parts.add(size, local, local + 1, recorded, enter, timeline);  // for itself
    }
    if (no_part || sends_to_some) {
      ++instance.arrived.count;
    } else {
      instance.arrived.add(recorded, enter, timeline);
    }
    if (!instance.groups.empty()) {
      Arrivals<K>& group = instance.groups[local < communicator.first_group ? 0 : 1];
      if (no_part || sends_to_some) {
        ++group.count;
      } else {
        group.add(recorded, enter, timeline);
      }
    }
    instance.here[local] = 1;
    if (local == root) {
      instance.root_arrived = true;
      instance.root_enter = enter;
      instance.root_timeline = timeline;
      instance.recorded_root_enter = recorded;
    }
    if (instance.how == Synchronisation::kPrefix)
      arrive_prefix(instance, size, local, recorded, enter, timeline);
  }

  /// Forgets the first instances while all members have left them. (Members in other processes
  /// count as departed from the start but still have to enter; the root's own record may come after
  /// those of the others.)
  void forget(uint32_t comm, State& state) {
    const int size = trace_->comms[comm].size();
    const auto awaits_nobody = [&](const Instance& instance) {
      const bool awaits_root = instance.how == Synchronisation::kOneToAll && instance.root >= 0 &&
                               !instance.root_arrived;
      return instance.arrived.count == size && !awaits_root && !instance.passed_on;
    };
    last_ = nullptr;
    while (!state.instances.empty() && state.instances.front().departed == size &&
           (remote_members_.empty() || awaits_nobody(state.instances.front()))) {
      state.instances.pop_front();
      ++state.first;
    }
  }

  State& state_of(uint32_t comm, uint64_t number) {
    const uint64_t series = number >> kSeriesShift;
    return series == 0 ? comms_[comm] : persistent_.find({comm, series})->second;
  }

  /// get() of another instance than in the last call.
  [[gnu::noinline]] Instance& look_up(uint32_t comm, uint64_t number) {
    State& state = state_of(comm, number);
    last_ = &state.instances[(number & kPlaceMask) - state.first];  // a deque never moves them
    last_comm_ = comm;
    last_number_ = number;
    return *last_;
  }

  /// The actions behind `action` give the part of each member.
  static void add_parts(const Action& action, int local, const Communicator& comm, double recorded,
                        const Lanes<K>& enter, int timeline, PartArrivals<K>& parts) {
    // On an intercommunicator the peers are the members of the other group.
    const int first = local < comm.first_group ? comm.first_group : 0;
    const auto peers = static_cast<uint64_t>(comm.peers(local));
    uint64_t at = 0;
    uint64_t some = 0;  // the first member behind those without a part
    const auto add_some = [&](uint64_t end) {
      if (some < end)
        parts.add(comm.size(), first + static_cast<int>(some), first + static_cast<int>(end),
                  recorded, enter, timeline);
    };
    for_each_part(action, [&](const Part& part) {
      const uint64_t end = std::min(at + part.members, peers);
      if (part.bytes == 0) {
        add_some(std::min(at, peers));
        some = end;
      }
      at = end;
    });
    add_some(peers);
    // No member is done before it has entered itself.
    if (comm.first_group == 0) parts.add(comm.size(), local, local + 1, recorded, enter, timeline);
  }

  void arrive_prefix(Instance& instance, int size, int local, double recorded,
                     const Lanes<K>& enter, int timeline) {
    if (instance.enters.empty()) {
      instance.enters.resize(size);
      instance.recorded_enters.resize(size);
      instance.latest_of.resize(size);
    }
    instance.enters[local] = enter;
    instance.latest_of[local] = timeline;
    instance.recorded_enters[local] = recorded;
    while (instance.prefix < size && instance.here[instance.prefix]) {
      const int i = instance.prefix++;
      if (i == 0) continue;
      if (instance.enters[i - 1][0] >= instance.enters[i][0])
        instance.latest_of[i] = instance.latest_of[i - 1];
      instance.enters[i] = instance.enters[i].max(instance.enters[i - 1]);
      instance.recorded_enters[i] =
          std::max(instance.recorded_enters[i], instance.recorded_enters[i - 1]);
    }
  }

  const TraceDefinitions* trace_;
  std::vector<State> comms_;
  std::map<std::pair<uint32_t, uint64_t>, State> persistent_;  ///< by communicator and series
  std::vector<int> remote_members_;  ///< by communicator; empty in an undivided replay
  bool mismatch_ = false;
  // The result of the last get().
  Instance* last_ = nullptr;
  uint32_t last_comm_ = 0;
  uint64_t last_number_ = 0;
};

}  // namespace rubato
