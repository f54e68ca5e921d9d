#pragma once

// What one process of a divided replay sends to the others, and the format of a batch.
// cluster/transport.h explains the idea; exchange.h handles what is received.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "replay/cluster/division.h"
#include "replay/cluster/team.h"
#include "replay/matching/collective_instances.h"
#include "replay/matching/matcher.h"
#include "replay/matching/relay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// At most eight kinds: the kind shares a byte with the flags.
enum class Crossing : uint8_t {
  kSend,
  kAnswer,
  kMembers,
  kRoot,
  kMember,
  kQuestion,
  kArrival,
  kRelay
};

/// A send, as reported to the process of its receiver.
template <int K>
struct RemoteSend {
  enum Flags : uint8_t {
    kSynchronousMode = 1,
    kWaits = 2,
    kHandshake = 4,
    kAnswers = 8,
    kSides = 16
  };
  Route route;
  uint64_t bytes = 0;
  uint32_t order = 0;
  uint8_t flags = 0;
  double recorded = 0;                ///< Transfer::recorded_send
  Lanes<K> sent;                      ///< Transfer::sent
  TransferId id = 0;                  ///< number in the sender's process; only with kAnswers
  Lanes<K> enter = Lanes<K>::Zero();  ///< enter of the sending call; only with kSides
  int32_t timeline = 0;               ///< timeline of the sending call; only with kSides

  bool has(Flags flag) const { return (flags & flag) != 0; }
};

/// The receiver's answer to a sender that waits.
template <int K>
struct SendAnswer {
  TransferId id = 0;
  bool skipped = false;  ///< no receive matches it
  double recorded = 0;   ///< Transfer::recorded_post; like the members below, only if not skipped
  Lanes<K> posted = Lanes<K>::Zero();
  int32_t timeline = 0;  ///< of the receiver
};

/// Base values of a batch: times are coded as differences, so whole ticks take few bytes.
struct BatchBase {
  int64_t ticks = 0;

  template <int K>
  void put(ByteWriter& to, const Lanes<K>& lanes) {
    if constexpr (K == 1) {
      to.ticks(lanes[0], ticks);
    } else {
      to.raw(lanes.data(), K * sizeof(double));
    }
  }
  template <int K>
  void take(ByteReader& from, Lanes<K>& lanes) {
    if constexpr (K == 1) {
      lanes[0] = from.ticks(ticks);
    } else {
      from.raw(lanes.data(), K * sizeof(double));
    }
  }
};

template <int K>
void put_ports(ByteWriter& to, const PortTimes<K>& ports) {
  for (const Lanes<K>* times : {&ports.out, &ports.in}) to.raw(times->data(), K * sizeof(double));
}
template <int K>
PortTimes<K> take_ports(ByteReader& from) {
  PortTimes<K> ports;
  for (Lanes<K>* times : {&ports.out, &ports.in}) from.raw(times->data(), K * sizeof(double));
  return ports;
}

/// One process's view of a divided replay.
template <int K>
class Boundary {
 public:
  Boundary(Team& team, const Division& division, const TraceDefinitions& trace)
      : team_(&team),
        division_(&division),
        first_(division.first(team.self())),
        end_(division.end(team.self())),
        bases_(team.processes()) {
    for (const Communicator& comm : trace.comms) {
      std::vector<int>& others = others_.emplace_back();
      int local = 0;
      if (comm.size() > 1) {
        for (const int32_t rank : comm.members) {
          const int process = division.owner(rank);
          local += process == team.self() ? 1 : 0;
          if (process != team.self() && (others.empty() || others.back() != process))
            others.push_back(process);
        }
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
      }
      local_members_.push_back(local);
      remote_members_.push_back(comm.size() > 1 ? comm.size() - local : 0);
      if (local == 0) others.clear();
    }
  }

  Team& team() { return *team_; }
  [[gnu::always_inline]] bool is_local(int rank) const { return rank >= first_ && rank < end_; }
  int owner(int rank) const { return division_->owner(rank); }
  const std::vector<int>& remote_members() const { return remote_members_; }
  /// Other processes with members of a communicator that has local members.
  const std::vector<int>& others(uint32_t comm) const { return others_[comm]; }

  // --- Messages ---

  void put(int rank, const RemoteSend<K>& send) {
    const int process = owner(rank);
    ByteWriter& to = begin(process, Crossing::kSend, send.flags);
    BatchBase& base = bases_[process];
    to.number(static_cast<uint64_t>(send.route.source));
    to.number(static_cast<uint64_t>(send.route.destination));
    to.number(send.route.comm);
    to.number(send.route.tag);
    to.number(send.bytes);
    to.number(send.order);
    to.ticks(send.recorded, base.ticks);
    base.put(to, send.sent);
    if (send.has(RemoteSend<K>::kAnswers)) to.number(send.id);
    if (send.has(RemoteSend<K>::kSides)) {
      base.put(to, send.enter);
      to.number(static_cast<uint64_t>(send.timeline));
    }
    team_->put(process);
  }
  static RemoteSend<K> take_send(ByteReader& from, BatchBase& base, uint8_t flags) {
    RemoteSend<K> send;
    send.flags = flags;
    send.route.source = static_cast<int32_t>(from.number());
    send.route.destination = static_cast<int32_t>(from.number());
    send.route.comm = static_cast<uint32_t>(from.number());
    send.route.tag = static_cast<uint32_t>(from.number());
    send.bytes = from.number();
    send.order = static_cast<uint32_t>(from.number());
    send.recorded = from.ticks(base.ticks);
    base.take(from, send.sent);
    if (send.has(RemoteSend<K>::kAnswers)) send.id = static_cast<TransferId>(from.number());
    if (send.has(RemoteSend<K>::kSides)) {
      base.take(from, send.enter);
      send.timeline = static_cast<int32_t>(from.number());
    }
    return send;
  }

  void put(int process, const SendAnswer<K>& answer) {
    ByteWriter& to = begin(process, Crossing::kAnswer, answer.skipped ? 1 : 0);
    BatchBase& base = bases_[process];
    to.number(answer.id);
    if (!answer.skipped) {
      to.ticks(answer.recorded, base.ticks);
      base.put(to, answer.posted);
      to.number(static_cast<uint64_t>(answer.timeline));
    }
    team_->put(process);
  }
  static SendAnswer<K> take_answer(ByteReader& from, BatchBase& base, uint8_t flags) {
    SendAnswer<K> answer;
    answer.id = static_cast<TransferId>(from.number());
    answer.skipped = flags != 0;
    if (answer.skipped) return answer;
    answer.recorded = from.ticks(base.ticks);
    base.take(from, answer.posted);
    answer.timeline = static_cast<int32_t>(from.number());
    return answer;
  }

  /// Where the other side of a message is, if its process is to be notified or will notify this
  /// one.
  struct Peer {
    int32_t process = -1;                ///< of the other side; -1: none
    TransferId remote_id = kNoTransfer;  ///< its number there; kNoTransfer: not known
    bool sent_here = false;
  };
  Peer& peer(TransferId id) {
    if (id >= peers_.size()) peers_.resize(2 * static_cast<size_t>(id) + 16);
    return peers_[id];
  }

  /// A question to the sender's process, or a notification to either process (Presence::Crossing).
  /// `id`: the number of the message in this process.
  void put(const Peer& peer, TransferId id, bool asks, uint32_t lanes, const Lanes<K>& time) {
    ByteWriter& to = begin(peer.process, asks ? Crossing::kQuestion : Crossing::kArrival);
    to.number(peer.remote_id);
    if (asks) to.number(id);
    if constexpr (K > 1) to.number(lanes);
    bases_[peer.process].put(to, time);
    team_->put(peer.process);
  }
  struct Notification {
    TransferId id = 0;         ///< number in the receiving process
    TransferId remote_id = 0;  ///< number in the asking process; only in questions
    uint32_t lanes = 1;
    Lanes<K> time;
  };
  static Notification take_notification(ByteReader& from, BatchBase& base, bool asks) {
    Notification notification;
    notification.id = static_cast<TransferId>(from.number());
    if (asks) notification.remote_id = static_cast<TransferId>(from.number());
    if constexpr (K > 1) notification.lanes = static_cast<uint32_t>(from.number());
    base.take(from, notification.time);
    return notification;
  }

  // --- Collectives ---

  /// The local members of one instance that are reported together.
  struct Members {
    uint32_t comm = 0;
    uint64_t number = 0;
    int arrived = 0;  ///< members that have arrived
    Came<K> came;
  };
  Members& members(uint32_t comm, uint64_t number) {
    // There are few instances under way, so a linear search is enough.
    for (size_t i = coming_.size(); i > 0; --i) {
      if (coming_[i - 1].number == number && coming_[i - 1].comm == comm) return coming_[i - 1];
    }
    coming_.push_back({comm, number, 0, {}});
    return coming_.back();
  }
  bool all_arrived(const Members& members) const {
    return members.arrived == local_members_[members.comm];
  }
  void forget(const Members& members) {
    coming_.erase(coming_.begin() + (&members - coming_.data()));
  }

  /// `awaited`: as Team::put().
  void put_members(const Members& members, CollectiveOp op, int32_t root, bool awaited) {
    for (const int process : others(members.comm)) {
      ByteWriter& to =
          begin_instance(process, Crossing::kMembers, members.comm, members.number, op, root);
      put(to, bases_[process], members.came);
      team_->put(process, awaited);
    }
  }
  static Came<K> take_members(ByteReader& from, BatchBase& base) {
    Came<K> came;
    Arrivals<K>& members = came.arrivals;
    members.count = static_cast<int>(from.number());
    members.latest = static_cast<int32_t>(from.near_zero());
    members.recorded_last = from.ticks(base.ticks);
    base.take(from, members.last);
    came.each.resize(from.number());
    for (Entered<K>& member : came.each) {
      member.local = static_cast<int32_t>(from.number());
      member.timeline = static_cast<int32_t>(from.number());
      from.value(member.payload);
      base.take(from, member.enter);
      member.ports = take_ports<K>(from);
    }
    return came;
  }

  /// True where processes report such members by a Relay.
  bool relays(uint32_t comm) const {
    return static_cast<int>(others(comm).size()) >= team_->most_notified_directly();
  }
  using MemberRelay = Relay<Came<K>>;
  MemberRelay& relay(uint32_t comm, uint64_t number) { return relays_[{comm, number}]; }
  void forget_relay(uint32_t comm, uint64_t number) { relays_.erase({comm, number}); }
  /// Sends what a relay can send now. True when the arrivals of all members are known.
  bool pass_on(uint32_t comm, uint64_t number, MemberRelay& relay, CollectiveOp op, int32_t root,
               bool awaited) {
    return relay.go_on(ring_size(comm), [&](int round, int distance, const Came<K>& members) {
      const int process = in_ring(comm, distance);
      ByteWriter& to = begin_instance(process, Crossing::kRelay, comm, number, op, root);
      to.number(static_cast<uint64_t>(round));
      put(to, bases_[process], members);
      team_->put(process, awaited);
    });
  }

  /// Reports the arrival of the root, which is in `process`. Called in that process and in each
  /// process that is notified: few processes are notified by the root's process directly, more of
  /// them by a binomial tree below it.
  void put_root(uint32_t comm, uint64_t number, const CollectiveInstance<K>& instance,
                int process) {
    const int size = ring_size(comm);
    const int from_root = (place(comm, team_->self()) - place(comm, process) + size) % size;
    if (!relays(comm)) {
      for (int distance = 1; from_root == 0 && distance < size; ++distance)
        put_root_to(in_ring(comm, distance), comm, number, instance);
      return;
    }
    for (int distance = 1; from_root + distance < size; distance *= 2) {
      if (distance > from_root) put_root_to(in_ring(comm, distance), comm, number, instance);
    }
  }
  /// `actions`: the action of the collective and the kParts actions behind it.
  void put_member(uint64_t number, const Action* actions, size_t count, int local, int rank,
                  int timeline, const Call& call, const Lanes<K>& enter,
                  const PortTimes<K>& ports) {
    for (const int process : others(actions->comm)) {
      ByteWriter& to =
          begin_instance(process, Crossing::kMember, actions->comm, number, actions->op, 0);
      BatchBase& base = bases_[process];
      to.number(count);
      to.raw(actions, count * sizeof(Action));
      to.number(static_cast<uint64_t>(local));
      to.number(static_cast<uint64_t>(rank));
      to.number(static_cast<uint64_t>(timeline));
      to.ticks(call.enter, base.ticks);
      to.ticks(call.leave, base.ticks);
      base.put(to, enter);
      put_ports(to, ports);
      team_->put(process);
    }
  }

  /// The kind of a record and its flags.
  static std::pair<Crossing, uint8_t> take_kind(ByteReader& from) {
    uint8_t byte = 0;
    from.value(byte);
    return {static_cast<Crossing>(byte & 7), static_cast<uint8_t>(byte >> 3)};
  }

 private:
  // The processes with members of a communicator form a ring, ordered by number.
  int ring_size(uint32_t comm) const { return static_cast<int>(others(comm).size()) + 1; }
  int place(uint32_t comm, int process) const {
    const std::vector<int>& others = this->others(comm);
    const auto before = std::lower_bound(others.begin(), others.end(), process) - others.begin();
    return static_cast<int>(before) + (team_->self() < process ? 1 : 0);
  }
  /// The process `distance` places behind this one in the ring; never this one.
  int in_ring(uint32_t comm, int distance) const {
    const int self = place(comm, team_->self());
    const int place = (self + distance) % ring_size(comm);
    return others(comm)[place < self ? place : place - 1];
  }

  void put_root_to(int process, uint32_t comm, uint64_t number,
                   const CollectiveInstance<K>& instance) {
    ByteWriter& to =
        begin_instance(process, Crossing::kRoot, comm, number, instance.op, instance.root);
    BatchBase& base = bases_[process];
    to.number(static_cast<uint64_t>(instance.root_timeline));
    to.ticks(instance.recorded_root_enter, base.ticks);
    base.put(to, instance.root_enter);
    team_->put(process, true);
  }

  static void put(ByteWriter& to, BatchBase& base, const Came<K>& came) {
    const Arrivals<K>& members = came.arrivals;
    to.number(static_cast<uint64_t>(members.count));
    to.near_zero(members.latest);
    to.ticks(members.recorded_last, base.ticks);
    base.put(to, members.last);
    to.number(came.each.size());
    for (const Entered<K>& member : came.each) {
      to.number(static_cast<uint64_t>(member.local));
      to.number(static_cast<uint64_t>(member.timeline));
      to.value(member.payload);
      base.put(to, member.enter);
      put_ports(to, member.ports);
    }
  }
  ByteWriter& begin(int process, Crossing kind, uint8_t flags = 0) {
    ByteWriter& to = team_->batch(process);
    if (to.size() == 0) bases_[process] = {};
    to.value(static_cast<uint8_t>(static_cast<unsigned>(kind) | static_cast<unsigned>(flags) << 3));
    return to;
  }
  ByteWriter& begin_instance(int process, Crossing kind, uint32_t comm, uint64_t number,
                             CollectiveOp op, int32_t root) {
    ByteWriter& to = begin(process, kind);
    to.number(comm);
    to.number(number);
    to.number(static_cast<uint64_t>(op));
    to.near_zero(root);
    return to;
  }

  Team* team_;
  const Division* division_;
  int first_, end_;               ///< local ranks
  std::vector<BatchBase> bases_;  ///< by process, of the batch under construction
  std::vector<int> local_members_, remote_members_;  ///< number of members, by communicator
  std::vector<std::vector<int>> others_;             ///< by communicator
  std::vector<Peer> peers_;
  std::vector<Members> coming_;
  std::map<std::pair<uint32_t, uint64_t>, MemberRelay> relays_;  ///< by communicator and instance
};

/// Placeholder for a Boundary in an undivided replay.
struct NoBoundary {};

}  // namespace rubato
