#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "models/collective/collective_model.h"
#include "models/collective/collective_schedule.h"
#include "models/platform/platform.h"
#include "tests/unit/random_programs.h"

/// The times of a program on a machine, by a naive simulation that shares only the prices and
/// schedules of collectives with the engine: an event queue in time order, while the engine runs
/// rank by rank.
namespace rubato::property {

/// Prices in ns: o_s, o_r, T(n) = latency + n * per_byte, g(n) = n * gap, g_b(n) = n * burst_gap
/// where that is more, g_2 likewise (0: as g_b), x(n) = crossing, y(n) = synchronous, f(n) =
/// following (0: there is none).
struct Machine {
  double o_s = 0, o_r = 0;
  double node_latency = 0, network_latency = 0;
  double per_byte = 0, gap = 0, burst_gap = 0, crossing = 0, synchronous = 0;
  double second_burst_gap = 0, following = 0;
  double rendezvous = kNever;            ///< from this size on
  Protocol protocol = Protocol::kAsync;  ///< of those
  bool whole = false;                    ///< collectives take whole ticks
  /// Data gets in line for the out-port when it can flow, and not in the order of sends.
  bool ports_in_time = false;
  CollectiveModel collectives;
};

/// The machine on which programs are recorded: integer ticks everywhere.
inline Machine recorder() {
  Machine machine;
  machine.o_s = 13;
  machine.o_r = 29;
  machine.node_latency = 400;
  machine.network_latency = 2100;
  machine.per_byte = 2;
  machine.whole = true;
  return machine;
}

class Reference {
 public:
  Reference(const Program& program, const Machine& machine)
      : program_(&program),
        machine_(&machine),
        state_(program.ranks.size()),
        transfers_(program.messages.size()),
        follows_(program.messages.size()),
        second_(program.messages.size()),
        behind_(program.messages.size()),
        instances_(program.instances.size()) {
    for (auto& instance : instances_) instance.assign(program.ranks.size(), kNever);
    for (const auto& ops : program.ranks) {
      find_bursts(ops);
      if (machine.following > 0) find_streams(ops);
    }
  }

  /// Messages that came to a port at the same time as another one: either may have it first.
  unsigned ties() const { return ties_; }

  /// Ends of all ranks; writes enters and leaves into `recording`, a copy of the program.
  std::vector<double> run(Program* recording = nullptr) {
    recording_ = recording;
    for (size_t rank = 0; rank < state_.size(); ++rank) schedule(static_cast<int>(rank), 0);
    while (!events_.empty()) {
      const auto [time, what, rank, number, message] = events_.top();
      events_.pop();
      if (what == What::kEnter) enter(rank, time);
      if (what == What::kLook) look(rank, message, time);
      if (what == What::kStart) take_port(message, time);
      // Ranks that waited for this may continue.
      for (size_t other = 0; other < state_.size(); ++other) try_leave(static_cast<int>(other));
    }
    std::vector<double> ends;
    for (const State& state : state_) {
      REQUIRE(state.ended);
      ends.push_back(state.end);
    }
    return ends;
  }

 private:
  /// Which messages of a rank follow one whose request is open.
  void find_bursts(const std::vector<Op>& ops) {
    int open = -1;
    for (const Op& op : ops) {
      for (const auto& [id, is_receive] : op.requests) {
        if (!is_receive && id == open) open = -1;
      }
      if (op.out < 0) continue;
      const Message& message = program_->messages[op.out];
      const bool nonblocking = op.kind == Kind::kIsend || op.kind == Kind::kIssend;
      const bool partitioned = nonblocking && message.tag == kTagOfPartitioned;
      if (message.source == message.destination || partitioned) continue;
      follows_[op.out] = open >= 0;
      second_[op.out] = open >= 0 && !follows_[open];
      open = nonblocking ? op.out : -1;
    }
  }

  /// Messages that a call receives.
  static std::vector<int> received_by(const Op& op) {
    std::vector<int> received;
    for (const auto& [id, is_receive] : op.requests) {
      if (is_receive) received.push_back(id);
    }
    if (op.kind == Kind::kRecv || op.kind == Kind::kSendrecv) received.push_back(op.in);
    return received;
  }

  /// Which messages are sent, or received, right behind others, as recorded.
  void find_streams(const std::vector<Op>& ops) {
    double sent = -kNever, received = -kNever;
    const auto right = [](double same, double other, const Op& op) {
      return same > other && op.enter - same < 1000;
    };
    for (const Op& op : ops) {
      if (op.out >= 0) {
        behind_[op.out].sent = right(sent, received, op);
        sent = op.leave;
      }
      bool behind = right(received, sent, op);
      for (const int id : received_by(op)) {
        behind_[id].received = behind;
        behind = true;
        received = op.leave;
      }
    }
  }

  double sending(int id, const Op& op) const {
    const Message& message = program_->messages[id];
    if (!behind_[id].sent || is_rendezvous(message)) return machine_->o_s;
    const double f = machine_->following;
    const bool blocking = op.kind != Kind::kIsend && op.kind != Kind::kIssend;
    const double explained =
        std::max({machine_->o_s, machine_->o_r, message.bytes * machine_->gap});
    const bool held = f > 1.1 * explained;
    return blocking && held ? f : std::min(f, machine_->o_s);
  }

  double receiving(int id) const {
    const bool eager = !is_rendezvous(program_->messages[id]) && !transfers_[id].synchronous;
    return behind_[id].received && eager ? std::min(machine_->following, machine_->o_r)
                                         : machine_->o_r;
  }

  /// When the port of its sender may take a message, which is free for others at `out_port`.
  double free_port(int id, double out_port) const {
    const bool own = second_[id] && machine_->second_burst_gap > 0;
    const double burst = own ? machine_->second_burst_gap : machine_->burst_gap;
    const double longer = std::max(0.0, burst - machine_->gap);
    return out_port + (follows_[id] ? program_->messages[id].bytes * longer : 0);
  }

  struct Transfer {
    double start = kNever, posted = kNever;
    double arrival = kNever;  ///< by pull and push
    bool receiver_was_there = false;
    double answer_left = kNever, data = kNever;  ///< by push
    bool synchronous = false, waits = false;
  };
  struct State {
    size_t next = 0;
    bool inside = false, ended = false;
    double enter = 0, busy = 0, end = 0;
    double left = -kNever;   ///< the last call in which the library looked at messages
    std::vector<int> lying;  ///< messages that wait for the rank to be inside MPI
    double out_port = -kNever, came_to_port = -kNever;
    /// A transfer through the in-port: the arrival of its first byte, and the time it occupies the
    /// port.
    std::multimap<double, double> through;
  };

  void schedule(int rank, double leave) {
    State& state = state_[rank];
    const auto& ops = program_->ranks[rank];
    state.inside = false;
    if (state.next < ops.size()) {
      push(leave + ops[state.next].compute, What::kEnter, rank, -1);
    } else {
      state.ended = true;
      state.end = leave + program_->compute_at_end;
    }
  }

  /// Pull and push: a message is at `rank`, whose library has to see it.
  void look(int rank, int message, double time) {
    State& state = state_[rank];
    if (state.inside || state.left >= time || state.ended) {
      seen(rank, message, time);
    } else {
      state.lying.push_back(message);
    }
  }

  void seen(int rank, int id, double time) {
    const Message& message = program_->messages[id];
    Transfer& transfer = transfers_[id];
    const double flight = message.bytes * machine_->per_byte;
    const bool pushes = machine_->protocol == Protocol::kPush;
    if (pushes && rank == message.destination && !transfer.receiver_was_there) {
      transfer.receiver_was_there = true;
      transfer.answer_left = time;
      push(time + answer(message), What::kLook, message.source, id);
      return;
    }
    if (pushes) transfer.data = pushed_data(rank, message, transfer, time);
    if (machine_->ports_in_time) {
      push(time, What::kStart, message.source, id);
    } else {
      transfer.arrival = time + (pushes ? transfer.data : flight);
    }
  }

  /// The data of a push is on its way from `time` on, when its sender `rank` has seen the answer:
  /// that was there a latency after it left, or the sender came only then.
  double pushed_data(int rank, const Message& message, const Transfer& transfer, double time) {
    const State& state = state_[rank];
    const double flight = message.bytes * machine_->per_byte;
    const double way = std::min(latency(message), flight);
    double start = transfer.answer_left + way;
    if (state.inside || state.left >= time) start = std::max(start, state.enter);
    return start + (flight - way) - time;
  }

  /// Nothing is missing but the port. (T is one latency, that of the request, and the data: there
  /// is nothing left for an answer, unless the sender has to see it.)
  void take_port(int id, double time) {
    const Message& message = program_->messages[id];
    State& sender = state_[message.source];
    Transfer& transfer = transfers_[id];
    if (std::exchange(sender.came_to_port, time) == time) ++ties_;
    const double start = std::max(time, free_port(id, sender.out_port));
    sender.out_port = start + message.bytes * machine_->gap;
    if (is_rendezvous(message)) {
      const double flight = message.bytes * machine_->per_byte;
      const bool pushed = machine_->protocol == Protocol::kPush;
      // A push may have been under way before, if its port is free.
      transfer.arrival = start + (!pushed        ? flight
                                  : start > time ? flight - std::min(latency(message), flight)
                                                 : transfer.data);
    } else {
      transfer.start = start;
    }
  }

  /// Until the sender of a push can have seen the answer.
  double answer(const Message& message) const {
    return std::min(latency(message) + machine_->o_s + machine_->o_r,
                    message.bytes * machine_->per_byte);
  }

  /// Both sides of a message may be known by now: its request comes to the receiver.
  void request(int id) {
    const bool async = machine_->protocol == Protocol::kAsync;
    if (id < 0 || (async && !machine_->ports_in_time)) return;
    const Message& message = program_->messages[id];
    const Transfer& transfer = transfers_[id];
    if (!is_rendezvous(message) || transfer.start == kNever || transfer.posted == kNever) return;
    const double ready = std::max(transfer.start + latency(message), transfer.posted);
    if (async) return push(ready, What::kStart, message.source, id);
    push(ready, What::kLook, message.destination, id);
  }

  void enter(int rank, double time) {
    State& state = state_[rank];
    const Op& op = program_->ranks[rank][state.next];
    state.inside = true;
    state.enter = state.busy = time;
    if (op.out >= 0) {
      const Message& message = program_->messages[op.out];
      Transfer& transfer = transfers_[op.out];
      state.busy += sending(op.out, op);
      if (machine_->ports_in_time && is_rendezvous(message)) {
        transfer.start = state.busy;
      } else if (machine_->ports_in_time) {
        push(state.busy, What::kStart, rank, op.out);
      } else {
        transfer.start = std::max(state.busy, free_port(op.out, state.out_port));
        state.out_port = transfer.start + message.bytes * machine_->gap;
      }
      transfer.synchronous = op.kind == Kind::kSsend || op.kind == Kind::kIssend;
      transfer.waits = transfer.synchronous || (op.kind != Kind::kBsend && is_rendezvous(message));
    }
    if (op.in >= 0) transfers_[op.in].posted = time;
    if (op.kind == Kind::kCollective || op.kind == Kind::kStart)
      instances_[op.instance][rank] = time;
    if (op.kind == Kind::kCollective || op.kind == Kind::kStart)
      ports_[{op.instance, rank}] = {state.out_port, all_moved(state.through)};
    if (op.kind != Kind::kLocal || looks(op)) {
      for (const int message : std::exchange(state.lying, {})) seen(rank, message, time);
    }
    request(op.out);
    if (op.in != op.out) request(op.in);
  }

  void try_leave(int rank) {
    State& state = state_[rank];
    if (!state.inside) return;
    const Op& op = program_->ranks[rank][state.next];
    const State before = state;
    const double leave = leave_of(rank, op, state);
    if (leave == kNever) {
      state = before;
      return;
    }
    if (recording_) {
      recording_->ranks[rank][state.next].enter = state.enter;
      recording_->ranks[rank][state.next].leave = leave;
    }
    ++state.next;
    if (op.kind != Kind::kLocal || looks(op)) state.left = leave;
    schedule(rank, leave);
    if (!state.ended) return;
    for (const int message : std::exchange(state.lying, {})) seen(rank, message, leave);
  }

  double leave_of(int rank, const Op& op, State& state) {
    switch (op.kind) {
      case Kind::kLocal:
        return state.enter + 11;
      case Kind::kCollective:
        return collective_leave(rank, op, state.enter, state);
      case Kind::kStart:
        return state.enter;
      default:
        break;
    }
    double overheads = state.busy;
    double latest = state.busy;
    std::vector<Request> waited = op.requests;
    const bool blocking_send =
        op.kind == Kind::kSend || op.kind == Kind::kSsend || op.kind == Kind::kSendrecv;
    if (blocking_send) latest = std::max(latest, sent(op.out));
    if (op.kind == Kind::kRecv || op.kind == Kind::kSendrecv) waited.push_back({op.in, true});
    for (const auto& [id, is_receive] : waited) {
      if (!is_receive) {
        latest = std::max(latest, sent(id));
        continue;
      }
      const double gap = program_->messages[id].bytes * machine_->gap;
      // The latest message of this rank, were it as long, would last so long beside this one.
      const auto flight = [&](int message) {
        return latency(program_->messages[message]) +
               program_->messages[message].bytes * machine_->per_byte;
      };
      double started = state.out_port - gap;
      const auto look_at = [&](int own) {
        if (is_rendezvous(program_->messages[own]) && transfers_[own].waits)
          started = std::max(started, arrival(own) - flight(own));
      };
      if (blocking_send) look_at(op.out);
      for (const auto& [other, receives] : waited) {
        if (!receives) look_at(other);
      }
      const double lasts = started + machine_->o_s + flight(id) + machine_->o_r;
      const double together = std::max(0.0, lasts - (arrival(id) - flight(id)));
      const double there =
          received(state.through, arrival(id) + std::min(machine_->crossing, together), gap);
      overheads += receiving(id) + acknowledging(id);
      latest = std::max(latest, there + machine_->o_r + acknowledging(id));
    }
    for (const int instance : op.started) {
      const Op& started = program_->instances[instance];
      latest = std::max(latest, collective_leave(rank, started, instances_[instance][rank], state));
    }
    return std::max(overheads, latest);
  }

  /// When the in-port has moved all of it, and never rested while there was something to move.
  static double all_moved(const std::multimap<double, double>& through) {
    double now = -kNever;
    for (const auto& [first, gap] : through) now = std::max(now, first) + gap;
    return now;
  }

  /// When a message is received that is `there` alone: if the port is busy for longer because of
  /// it, then.
  static double received(std::multimap<double, double>& through, double there, double gap) {
    if (gap == 0) return there;
    const double before = all_moved(through);
    through.emplace(there - gap, gap);
    const double after = all_moved(through);
    return after > before + 1e-6 ? after : there;
  }

  double latency(const Message& message) const {
    if (message.source == message.destination) return machine_->node_latency;
    return program_->nodes[message.source] == program_->nodes[message.destination]
               ? machine_->node_latency
               : machine_->network_latency;
  }
  bool is_rendezvous(const Message& message) const { return message.bytes >= machine_->rendezvous; }

  double arrival(int id) const {
    const Message& message = program_->messages[id];
    const Transfer& transfer = transfers_[id];
    const double flight = message.bytes * machine_->per_byte;
    if (transfer.start == kNever) return kNever;
    if (!is_rendezvous(message)) return transfer.start + latency(message) + flight;
    if (machine_->protocol != Protocol::kAsync || machine_->ports_in_time) return transfer.arrival;
    return std::max(transfer.start + latency(message), transfer.posted) + flight;
  }

  /// When the sender is done with a message.
  double sent(int id) const {
    const Transfer& transfer = transfers_[id];
    if (!transfer.waits) return -kNever;
    if (is_rendezvous(program_->messages[id])) return arrival(id);
    return std::max(arrival(id), transfer.posted) + acknowledging(id) + machine_->o_s +
           latency(program_->messages[id]) + machine_->o_r;
  }

  /// The time in which its receiver acknowledges a message.
  double acknowledging(int id) const {
    const bool says = transfers_[id].synchronous && !is_rendezvous(program_->messages[id]);
    return says ? machine_->synchronous : 0;
  }

  /// An overhead of a message of n bytes right behind another one.
  double followed(double overhead, double n) const {
    const bool bound = machine_->following > 0 && n < machine_->rendezvous;
    return bound ? std::min(overhead, machine_->following) : overhead;
  }

  /// A communicator takes as long to create as recorded after the last member, or longer.
  double collective_leave(int rank, const Op& op, double enter, State& state) const {
    const double leave = communicated(rank, op, enter, state);
    if (op.collective != CollectiveOp::kCreateHandle || op.kind == Kind::kStart) return leave;
    const std::vector<int>& members = program_->comms[op.comm];
    if (recording_ || members.size() == 1) return leave;
    double last = 0, recorded_last = 0;
    for (const int member : members) {
      last = std::max(last, instances_[op.instance][member]);
      for (const Op& other : program_->ranks[member]) {
        const bool creates = other.kind == Kind::kCollective && other.instance == op.instance;
        if (creates) recorded_last = std::max(recorded_last, other.enter);
      }
    }
    return std::max(leave, last + op.leave - recorded_last);
  }

  double communicated(int rank, const Op& op, double enter, State& state) const {
    const std::vector<int>& members = program_->comms[op.comm];
    const int p = static_cast<int>(members.size());
    if (p == 1) return enter;
    const auto& enters = instances_[op.instance];
    bool one_node = true;
    double last = 0, below = 0;
    bool mine = false;
    for (const int member : members) {
      one_node = one_node && program_->nodes[member] == program_->nodes[members[0]];
      last = std::max(last, enters[member]);
      if (!mine) below = std::max(below, enters[member]);
      mine = mine || member == rank;
    }
    const double widest = one_node ? machine_->node_latency : machine_->network_latency;
    const RoundCost cost{[&](double n) { return part_move(widest, n); },
                         [&](double n) { return part_gap(widest, n); },
                         [&](double n) { return followed(machine_->o_s, n) + n * machine_->gap; },
                         [](double) { return 0.0; },
                         [&](double n) {
                           return followed(machine_->o_r, n) +
                                  (n >= machine_->rendezvous ? n * machine_->per_byte : 0.0);
                         }};
    const CollectiveModel& model = machine_->collectives;
    double total = model.seconds(op.collective, p, op.bytes, cost);
    const bool is_root = op.root >= 0 && members[op.root] == rank;
    double departure = model.departure(op.collective, p, op.bytes, is_root, cost);
    if (machine_->whole) {
      total = std::ceil(total);
      departure = std::ceil(departure);
    }
    if (total > 0) {
      const auto played = played_leave(rank, op, state);
      if (played) return machine_->whole ? std::ceil(*played) : *played;
    }
    switch (model.synchronisation(op.collective, op.bytes)) {
      case Synchronisation::kOneToAll:
        return std::max(enter + departure, is_root ? 0.0 : enters[members[op.root]] + total);
      case Synchronisation::kAllToOne:
        return is_root ? last + total : enter + departure;
      case Synchronisation::kPrefix:
        return below + total;
      case Synchronisation::kAllToAll:
        break;
    }
    return last + total;
  }

  /// For a message of a collective with latency `trip`: the times until it arrives, and until the
  /// port is free for the next one.
  double part_move(double trip, double n) const {
    return machine_->o_s + trip + n * machine_->per_byte + machine_->o_r;
  }
  double part_gap(double trip, double n) const {
    return std::min(part_move(trip, n), std::max({followed(machine_->o_s, n),
                                                  followed(machine_->o_r, n), n * machine_->gap}));
  }

  /// The messages of a collective one step after the other, each as long as it takes between its
  /// two members; a member that has not come yet comes at kNever, and so does what depends on it.
  /// A member's ports are free when they have moved what they had when it entered, and move the
  /// later messages of `state` behind these. Nothing if they are not played.
  std::optional<double> played_leave(int rank, const Op& op, State& state) const {
    const std::vector<int>& members = program_->comms[op.comm];
    const int p = static_cast<int>(members.size());
    const CollectiveModel& model = machine_->collectives;
    const auto schedule = collective_schedule(op.collective, model, p, op.bytes, op.root);
    if (schedule.size() > std::max<size_t>(512, 16 * p)) return {};
    const bool holds = is_rooted(op.collective) &&
                       model.synchronisation(op.collective, op.bytes) == Synchronisation::kAllToAll;
    std::vector<double> here(p), busy(p), latest(p);
    std::vector<double> out(p, -kNever), in(p, -kNever), free(p, -kNever), gaps(p, 0.0);
    std::vector<double> there(schedule.size());
    for (int i = 0; i < p; ++i) {
      here[i] = instances_[op.instance][members[i]];
      if (here[i] != kNever) std::tie(out[i], in[i]) = ports_.at({op.instance, members[i]});
    }
    const auto trip = [&](int from, int to) {
      return program_->nodes[members[from]] == program_->nodes[members[to]]
                 ? machine_->node_latency
                 : machine_->network_latency;
    };
    for (size_t first = 0, end = 0; first < schedule.size(); first = end) {
      while (end < schedule.size() && schedule[end].step == schedule[first].step) ++end;
      busy = latest = here;
      for (size_t i = first; i < end; ++i) {
        const auto& [step, from, to, n, combines, first_block] = schedule[i];
        const double start = std::max(busy[from], out[from]);
        out[from] = start + part_gap(trip(from, to), n);
        busy[from] += followed(machine_->o_s, n);
        free[from] = std::max(free[from], start + followed(machine_->o_s, n) + n * machine_->gap);
        there[i] = start + part_move(trip(from, to), n);
      }
      for (size_t i = first; i < end; ++i) {
        const auto& [step, from, to, n, combines, first_block] = schedule[i];
        const double receive = followed(machine_->o_r, n);
        const bool meets = n >= machine_->rendezvous;
        const double way = trip(from, to);
        const double take = meets   ? receive + n * machine_->per_byte
                            : holds ? part_move(way, n)
                                    : receive;
        there[i] = std::max({there[i], in[to] + part_gap(way, n), here[to] + take});
        in[to] = there[i];
        gaps[to] += part_gap(way, n);
        busy[to] += receive;
        latest[to] = std::max(latest[to], there[i]);
        if (holds || meets) latest[from] = std::max(latest[from], there[i]);
      }
      for (int i = 0; i < p; ++i) here[i] = std::max(busy[i], latest[i]);
    }
    const auto me = std::find(members.begin(), members.end(), rank) - members.begin();
    received(state.through, in[me], gaps[me]);
    return std::max(here[me], free[me]);
  }

  const Program* program_;
  const Machine* machine_;
  Program* recording_ = nullptr;
  std::vector<State> state_;
  std::vector<Transfer> transfers_;
  struct Behind {
    bool sent = false, received = false;
  };
  std::vector<bool> follows_, second_;          ///< by message
  std::vector<Behind> behind_;                  ///< likewise: right behind another one
  std::vector<std::vector<double>> instances_;  ///< enters by rank
  /// By instance and rank that has entered: when its ports are free.
  std::map<std::pair<int, int>, std::pair<double, double>> ports_;
  /// At one time in this order.
  enum class What { kLook, kStart, kEnter };
  /// Time, kind, rank, order of request, message.
  using Event = std::tuple<double, What, int, long, int>;

  void push(double time, What what, int rank, int message) {
    events_.push({time, what, rank, ++pushed_, message});
  }

  unsigned ties_ = 0;
  long pushed_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace rubato::property
