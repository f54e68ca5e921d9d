// Random programs without deadlock, replayed on many machines: what must hold whatever a program
// does. Each is also simulated by a naive reference that shares nothing with the engine but the
// price of a collective: an event queue in the order of time, where the engine runs rank by rank.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <sstream>

#include "models/collectives.h"
#include "models/platform_file.h"
#include "replay/replay_driver.h"
#include "replay/text_source.h"

using namespace rubato;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// --- Programs ---

struct Message {
  int source, destination;
  int comm, tag;
  int bytes;
  bool sent = false, posted = false;
};

enum class Kind {
  kSend,
  kSsend,
  kBsend,
  kIsend,
  kIssend,
  kRecv,
  kIrecv,
  kWait,
  kSendrecv,
  kCollective,
  kLocal
};

/// One end of a message, as a request.
struct Request {
  int message;
  bool receive;
};

/// One call of one rank.
struct Op {
  Kind kind = Kind::kLocal;
  int compute = 0;                ///< before it, ns
  int out = -1, in = -1;          ///< messages sent and received
  std::vector<Request> requests;  ///< what a wait completes, in order
  CollectiveOp collective = CollectiveOp::kBarrier;
  int comm = 0, root = kNoRoot, bytes = 0;
  int instance = 0;
  double enter = 0, leave = 0;  ///< as recorded
};

struct Program {
  std::vector<int> nodes;               ///< by rank
  std::vector<std::vector<int>> comms;  ///< 0 is the world
  std::vector<Message> messages;
  std::vector<std::vector<Op>> ranks;
  int instances = 0;  ///< of collectives
  int compute_at_end = 7;
};

const std::map<CollectiveOp, const char*> kNames = {{CollectiveOp::kBarrier, "barrier"},
                                                    {CollectiveOp::kBcast, "bcast"},
                                                    {CollectiveOp::kGather, "gather"},
                                                    {CollectiveOp::kScatter, "scatter"},
                                                    {CollectiveOp::kAllgather, "allgather"},
                                                    {CollectiveOp::kAlltoall, "alltoall"},
                                                    {CollectiveOp::kAllreduce, "allreduce"},
                                                    {CollectiveOp::kReduce, "reduce"},
                                                    {CollectiveOp::kScan, "scan"},
                                                    {CollectiveOp::kExscan, "exscan"},
                                                    {CollectiveOp::kCreateHandle, "comm_create"}};

/// Makes programs by a random global order of steps that every rank's order agrees with: a step may
/// wait only for earlier ones, so there is no deadlock. `safe`: not even when every send waits for
/// its receive.
class Generator {
 public:
  Generator(unsigned seed, bool safe) : random_(seed), safe_(safe) {}

  Program make() {
    const int ranks = below(7) + 2;
    program_.ranks.resize(ranks);
    open_.resize(ranks);
    for (int rank = 0; rank < ranks; ++rank) program_.nodes.push_back(below(2));
    program_.nodes[0] = 0;
    std::vector<int> all(ranks);
    for (int rank = 0; rank < ranks; ++rank) all[rank] = rank;
    program_.comms.push_back(all);
    for (int more = below(3); more > 0; --more) {
      std::shuffle(all.begin(), all.end(), random_);
      program_.comms.push_back({all.begin(), all.begin() + 1 + below(ranks)});
    }
    for (int steps = 10 + below(60); steps > 0; --steps) step();
    finish();
    return std::move(program_);
  }

 private:
  struct Pending {
    std::deque<int> sent, posted;  ///< messages of one channel of which one side is there
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  Op& add(int rank, Kind kind) {
    Op op;
    op.kind = kind;
    op.compute = below(4) ? below(3000) : 0;
    program_.ranks[rank].push_back(op);
    return program_.ranks[rank].back();
  }

  void step() {
    const int what = below(20);
    if (what < 4) return collective();
    if (what < 5) return void(add(below(ranks()), Kind::kLocal));
    if (what < 7) return exchange();
    if (what < 10) return wait(below(ranks()));
    // Few channels, so that several messages queue up on one.
    const auto& members = program_.comms[below(static_cast<int>(program_.comms.size()))];
    const int comm = static_cast<int>(&members - program_.comms.data());
    const int n = static_cast<int>(members.size());
    one_side(members[below(n)], members[below(n)], comm, below(2), below(2) == 0);
  }

  void one_side(int source, int destination, int comm, int tag, bool sender) {
    Pending& pending = pending_[{source, destination, comm, tag}];
    if (sender) {
      if (!pending.posted.empty()) {
        const int id = pop(pending.posted);
        return send(id, 5);
      }
      if (safe_) return post_then_send(source, destination, comm, tag);
      const int id = create(source, destination, comm, tag);
      pending.sent.push_back(id);
      return send(id, 3);
    }
    if (!pending.sent.empty()) {
      const int id = pop(pending.sent);
      return receive(id, below(2) == 0);
    }
    const int id = create(source, destination, comm, tag);
    pending.posted.push_back(id);
    receive(id, false);
  }

  /// Both sides in one step: the receive may block unless the rank talks to itself.
  void post_then_send(int source, int destination, int comm, int tag) {
    const int id = create(source, destination, comm, tag);
    receive(id, source != destination && below(2) == 0);
    send(id, 5);
  }

  int create(int source, int destination, int comm, int tag) {
    constexpr int sizes[] = {0, 1, 8, 500, 999, 1000, 5000, 70000};
    program_.messages.push_back({source, destination, comm, tag, sizes[below(8)]});
    return static_cast<int>(program_.messages.size()) - 1;
  }

  /// Kinds: plain, buffered, nonblocking, nonblocking synchronous; `kinds` 5: synchronous too,
  /// which only a send whose receive is posted may be.
  void send(int id, int kinds) {
    Message& message = program_.messages[id];
    constexpr Kind kind[] = {Kind::kSend, Kind::kBsend, Kind::kIsend, Kind::kIssend, Kind::kSsend};
    const Kind chosen = kind[below(kinds == 5 ? 5 : 4)];
    add(message.source, chosen).out = id;
    message.sent = true;
    if (chosen == Kind::kIsend || chosen == Kind::kIssend)
      open_[message.source].push_back({id, chosen});
  }

  void receive(int id, bool blocking) {
    Message& message = program_.messages[id];
    add(message.destination, blocking ? Kind::kRecv : Kind::kIrecv).in = id;
    message.posted = true;
    if (!blocking) open_[message.destination].push_back({id, Kind::kIrecv});
  }

  void exchange() {
    const int a = below(ranks());
    const int b = below(ranks());
    Pending& there = pending_[{a, b, 0, 0}];
    Pending& back = pending_[{b, a, 0, 0}];
    if (a == b || !there.sent.empty() || !there.posted.empty() || !back.sent.empty() ||
        !back.posted.empty())
      return;
    const int out = create(a, b, 0, 0);
    const int in = create(b, a, 0, 0);
    for (const int rank : {a, b}) {
      Op& op = add(rank, Kind::kSendrecv);
      op.out = rank == a ? out : in;
      op.in = rank == a ? in : out;
    }
    for (const int id : {out, in}) program_.messages[id].sent = program_.messages[id].posted = true;
  }

  void collective() {
    const int comm = below(static_cast<int>(program_.comms.size()));
    const auto& members = program_.comms[comm];
    auto chosen = kNames.begin();
    std::advance(chosen, below(static_cast<int>(kNames.size())));
    const bool rooted = synchronisation(chosen->first) == Synchronisation::kOneToAll ||
                        synchronisation(chosen->first) == Synchronisation::kAllToOne;
    const int root = rooted ? below(static_cast<int>(members.size())) : kNoRoot;
    const int bytes = 8 * (1 + below(3000));
    for (const int rank : members) {
      Op& op = add(rank, Kind::kCollective);
      op.collective = chosen->first;
      op.comm = comm;
      op.root = root;
      op.bytes = bytes;
      op.instance = program_.instances;
    }
    ++program_.instances;
  }

  /// Completes some of the open requests that cannot hang, in any order.
  void wait(int rank, bool all = false) {
    auto& open = open_[rank];
    std::shuffle(open.begin(), open.end(), random_);
    std::vector<Request> completed;
    for (size_t i = 0; i < open.size();) {
      const Message& message = program_.messages[open[i].first];
      const bool matched = message.sent && message.posted;
      const bool may = matched || (open[i].second == Kind::kIsend && !safe_);
      if (may && (all || below(3))) {
        completed.push_back({open[i].first, open[i].second == Kind::kIrecv});
        open.erase(open.begin() + static_cast<long>(i));
      } else {
        ++i;
      }
    }
    if (!completed.empty()) add(rank, Kind::kWait).requests = completed;
  }

  void finish() {
    for (auto& [channel, pending] : pending_) {
      while (!pending.sent.empty()) receive(pop(pending.sent), true);
      while (!pending.posted.empty()) send(pop(pending.posted), 5);
    }
    for (int rank = 0; rank < ranks(); ++rank) wait(rank, true);
  }

  static int pop(std::deque<int>& queue) {
    const int id = queue.front();
    queue.pop_front();
    return id;
  }
  int ranks() const { return static_cast<int>(program_.ranks.size()); }

  std::mt19937 random_;
  bool safe_;
  Program program_;
  std::map<std::array<int, 4>, Pending> pending_;
  std::vector<std::vector<std::pair<int, Kind>>> open_;  ///< requests by rank
};

// --- The reference ---

/// Prices in ns: o_s, o_r, T(n) = latency + n * per_byte, g(n) = n * gap.
struct Machine {
  double o_s = 0, o_r = 0;
  double node_latency = 0, network_latency = 0;
  double per_byte = 0, gap = 0;
  double rendezvous = kNever;  ///< from this size on
  bool whole = false;          ///< collectives take whole ticks
};

class Reference {
 public:
  Reference(const Program& program, const Machine& machine)
      : program_(&program),
        machine_(&machine),
        state_(program.ranks.size()),
        transfers_(program.messages.size()),
        instances_(program.instances) {
    for (auto& instance : instances_) instance.assign(program.ranks.size(), kNever);
  }

  /// Ends of all ranks; writes enters and leaves into `recording`, a copy of the program.
  std::vector<double> run(Program* recording = nullptr) {
    recording_ = recording;
    for (size_t rank = 0; rank < state_.size(); ++rank) schedule(static_cast<int>(rank), 0);
    while (!events_.empty()) {
      const auto [time, rank] = events_.top();
      events_.pop();
      enter(rank, time);
    }
    std::vector<double> ends;
    for (const State& state : state_) {
      REQUIRE(state.ended);
      ends.push_back(state.end);
    }
    return ends;
  }

 private:
  struct Transfer {
    double start = kNever, posted = kNever;
    bool synchronous = false, waits = false;
  };
  struct State {
    size_t next = 0;
    bool inside = false, ended = false;
    double enter = 0, busy = 0, end = 0;
    double out_port = -kNever, in_port = -kNever;
  };

  void schedule(int rank, double leave) {
    State& state = state_[rank];
    const auto& ops = program_->ranks[rank];
    state.inside = false;
    if (state.next < ops.size()) {
      events_.push({leave + ops[state.next].compute, rank});
    } else {
      state.ended = true;
      state.end = leave + program_->compute_at_end;
    }
  }

  void enter(int rank, double time) {
    State& state = state_[rank];
    const Op& op = program_->ranks[rank][state.next];
    state.inside = true;
    state.enter = state.busy = time;
    if (op.out >= 0) {
      const Message& message = program_->messages[op.out];
      Transfer& transfer = transfers_[op.out];
      state.busy += machine_->o_s;
      transfer.start = std::max(state.busy, state.out_port);
      state.out_port = transfer.start + message.bytes * machine_->gap;
      transfer.synchronous = op.kind == Kind::kSsend || op.kind == Kind::kIssend;
      transfer.waits = transfer.synchronous || (op.kind != Kind::kBsend && is_rendezvous(message));
    }
    if (op.in >= 0) transfers_[op.in].posted = time;
    if (op.kind == Kind::kCollective) instances_[op.instance][rank] = time;
    // Whoever waited for this may go on now.
    for (size_t other = 0; other < state_.size(); ++other) try_leave(static_cast<int>(other));
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
    schedule(rank, leave);
  }

  double leave_of(int rank, const Op& op, State& state) {
    switch (op.kind) {
      case Kind::kLocal:
        return state.enter + 11;
      case Kind::kCollective:
        return collective_leave(rank, op, state.enter);
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
      state.in_port = std::max(arrival(id), state.in_port + gap);
      overheads += machine_->o_r;
      latest = std::max(latest, state.in_port + machine_->o_r);
    }
    return std::max(overheads, latest);
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
    return std::max(transfer.start + latency(message), transfer.posted) + flight;
  }

  /// When the sender is done with a message.
  double sent(int id) const {
    const Transfer& transfer = transfers_[id];
    if (!transfer.waits) return -kNever;
    if (is_rendezvous(program_->messages[id])) return arrival(id);
    return std::max(arrival(id), transfer.posted) + latency(program_->messages[id]);
  }

  double collective_leave(int rank, const Op& op, double enter) const {
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
    const double trip = one_node ? machine_->node_latency : machine_->network_latency;
    const RoundCost cost{
        [&](double n) { return machine_->o_s + trip + n * machine_->per_byte + machine_->o_r; },
        [](double) { return 0.0; }};
    double total = collective_seconds(op.collective, p, op.bytes, cost);
    if (machine_->whole) total = std::ceil(total);
    const bool is_root = op.root >= 0 && members[op.root] == rank;
    const double departure = machine_->o_s + op.bytes * machine_->gap;
    int rounds = 0;
    while (1 << rounds < p) ++rounds;
    switch (synchronisation(op.collective)) {
      case Synchronisation::kOneToAll:
        return is_root ? enter + rounds * departure
                       : std::max(enters[members[op.root]], enter) + total;
      case Synchronisation::kAllToOne:
        return is_root ? last + total : enter + departure;
      case Synchronisation::kPrefix:
        return below + total;
      case Synchronisation::kAllToAll:
        break;
    }
    return last + total;
  }

  const Program* program_;
  const Machine* machine_;
  Program* recording_ = nullptr;
  std::vector<State> state_;
  std::vector<Transfer> transfers_;
  std::vector<std::vector<double>> instances_;  ///< enters by rank
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>
      events_;
};

// --- The program as a trace ---

/// What Score-P counts as sent and received by rank `me` of `n` (conventions B.2).
std::pair<long, long> logical_bytes(CollectiveOp op, long n, long me, bool root, long b) {
  switch (op) {
    case CollectiveOp::kBcast:
    case CollectiveOp::kScatter:
      return {root ? n * b : 0, b};
    case CollectiveOp::kGather:
    case CollectiveOp::kReduce:
      return {b, root ? n * b : 0};
    case CollectiveOp::kScan:
      return {(n - me) * b, (me + 1) * b};
    case CollectiveOp::kExscan:
      return {(n - me - 1) * b, me * b};
    case CollectiveOp::kBarrier:
    case CollectiveOp::kCreateHandle:
      return {0, 0};
    default:
      return {n * b, n * b};
  }
}

/// With `threads` 2 each two ranks become the threads of one: a message's tag then names them. Such
/// a program has no collectives, which are the ranks', and no MPI_Sendrecv, which has one tag here;
/// and every rank is in every communicator.
std::string as_text(const Program& program, const std::vector<double>& ends, size_t threads = 1) {
  std::ostringstream out;
  out.precision(17);
  out << "nodes";
  for (size_t rank = 0; rank < program.nodes.size(); rank += threads)
    out << ' ' << program.nodes[rank];
  for (size_t comm = 1; comm < program.comms.size(); ++comm) {
    out << "\ncomm " << comm;
    for (const int rank : program.comms[threads == 1 ? comm : 0]) {
      if (rank % threads == 0) out << ' ' << rank / threads;
    }
  }
  const auto tag = [&](const Message& message) {
    if (threads == 1) return message.tag;
    return 4 * message.tag + 2 * (message.source % 2) + message.destination % 2;
  };
  const char* names[] = {"send",
                         "ssend",
                         "bsend",
                         "isend",
                         "issend",
                         "recv",
                         "irecv",
                         "wait",
                         "sendrecv",
                         "",
                         "local MPI_Comm_rank"};
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const size_t thread = rank % threads;
    const std::string name =
        std::to_string(rank / threads) + (thread > 0 ? "." + std::to_string(thread) : "");
    out << '\n' << name << ": 0..0 " << (thread > 0 ? "local MPI_Comm_rank" : "init");
    for (const Op& op : program.ranks[rank]) {
      out << '\n' << name << ": " << op.enter << ".." << op.leave << ' ';
      if (op.kind == Kind::kCollective) {
        const auto& members = program.comms[op.comm];
        const long me =
            std::find(members.begin(), members.end(), static_cast<int>(rank)) - members.begin();
        const auto [sent, received] = logical_bytes(
            op.collective, static_cast<long>(members.size()), me, me == op.root, op.bytes);
        out << kNames.at(op.collective) << ' ' << sent << "B " << received << "B comm " << op.comm;
        if (op.root >= 0) out << " root " << op.root;
        continue;
      }
      out << names[static_cast<int>(op.kind)];
      for (const auto& [id, is_receive] : op.requests) out << ' ' << 2 * id + is_receive;
      if (op.out >= 0)
        out << ' ' << program.messages[op.out].destination / threads << ' '
            << program.messages[op.out].bytes << 'B';
      if (op.in >= 0)
        out << ' ' << program.messages[op.in].source / threads << ' '
            << program.messages[op.in].bytes << 'B';
      const int id = op.out >= 0 ? op.out : op.in;
      if (id >= 0)
        out << " tag " << tag(program.messages[id]) << " comm " << program.messages[id].comm;
      if (op.kind == Kind::kIsend || op.kind == Kind::kIssend) out << " req " << 2 * id;
      if (op.kind == Kind::kIrecv) out << " req " << 2 * id + 1;
    }
    out << '\n' << name << ": " << ends[rank] << " end";
  }
  out << '\n';
  return out.str();
}

// --- The machines ---

/// What the programs are recorded on: whole ticks everywhere.
Machine recorder() {
  Machine machine;
  machine.o_s = 13;
  machine.o_r = 29;
  machine.node_latency = 400;
  machine.network_latency = 2100;
  machine.per_byte = 2;
  machine.whole = true;
  return machine;
}

Scenario bandela(const Machine& machine) {
  std::ostringstream text;
  text.precision(17);
  text << "bandela:self.latency=" << machine.node_latency
       << "ns,node.latency=" << machine.node_latency
       << "ns,network.latency=" << machine.network_latency
       << "ns,bandwidth=" << 1 / machine.per_byte << "GB/s";
  return parse_scenario(text.str());
}

Scenario platform(const Machine& machine) {
  std::ostringstream text;
  text.precision(17);
  text << "format = 1\n";
  for (const char* level : {"self", "node", "network"}) {
    const double latency =
        std::string(level) == "network" ? machine.network_latency : machine.node_latency;
    text << "[level." << level << "]\ntransfer = [{ from = \"0B\", latency = \"" << latency
         << "ns\", bandwidth = \"" << 1 / machine.per_byte
         << "GB/s\" }]\ngap = [{ from = \"0B\", latency = \"0s\", bandwidth = \"" << 1 / machine.gap
         << "GB/s\" }]\nsend_overhead = \"" << machine.o_s << "ns\"\nreceive_overhead = \""
         << machine.o_r << "ns\"\n";
    if (machine.rendezvous < kNever)
      text << "protocol = [{ from = \"0B\", kind = \"eager\" }, { from = \"" << machine.rendezvous
           << "B\", kind = \"async\" }]\n";
  }
  Scenario scenario;
  scenario.name = "platform";
  scenario.platform = parse_platform(text.str(), "platform");
  return scenario;
}

std::vector<double> ends_of(const ScenarioResult& result) {
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  std::vector<double> ends;
  for (const RankResult& rank : result.ranks) ends.push_back(rank.end * 1e9);
  return ends;
}

void check_near(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("rank " << i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

/// No rank of `a` ends later than in `b`, rounding aside.
void check_not_later(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("rank " << i);
    CHECK(a[i] <= b[i] * (1 + 1e-12));
  }
}

void check_same_bits(const ScenarioResult& a, const ScenarioResult& b) {
  REQUIRE(a.ranks.size() == b.ranks.size());
  CHECK(a.elapsed == b.elapsed);
  for (size_t i = 0; i < a.ranks.size(); ++i) {
    CHECK(a.ranks[i].end == b.ranks[i].end);
    CHECK(a.ranks[i].compute == b.ranks[i].compute);
    CHECK(a.ranks[i].mpi == b.ranks[i].mpi);
  }
}

struct Recorded {
  Program program;
  std::vector<double> ends;
  std::string text;
};

Recorded record(unsigned seed, bool safe, const Machine& machine) {
  Recorded recorded;
  recorded.program = Generator(seed, safe).make();
  const Program program = recorded.program;
  recorded.ends = Reference(program, machine).run(&recorded.program);
  recorded.text = as_text(recorded.program, recorded.ends);
  return recorded;
}

/// A program of which each two ranks can be the threads of one.
Program threaded(unsigned seed) {
  Program program = Generator(seed, true).make();
  for (auto& ops : program.ranks) {
    std::erase_if(ops, [](const Op& op) {
      return op.kind == Kind::kCollective || op.kind == Kind::kSendrecv;
    });
  }
  for (size_t rank = 1; rank < program.nodes.size(); rank += 2)
    program.nodes[rank] = program.nodes[rank - 1];
  return program;
}

/// A recording by clocks that jump ahead by up to 3000 ticks now and then, one for each `threads`
/// ranks.
Recorded record_badly(unsigned seed, size_t threads) {
  Recorded recorded;
  const Program program = threads == 1 ? Generator(seed, false).make() : threaded(seed);
  recorded.program = program;
  recorded.ends = Reference(program, recorder()).run(&recorded.program);
  std::mt19937 random(seed);
  std::map<double, double> jumps;  // by time
  for (size_t rank = 0; rank < recorded.ends.size(); ++rank) {
    if (rank % threads == 0) {
      jumps.clear();
      for (int i = 0; i < 4; ++i)
        jumps[static_cast<double>(random() % 20000)] = static_cast<double>(random() % 3000);
    }
    const auto show = [&](double& time) {
      double ahead = 0;
      for (const auto& [at, by] : jumps) ahead += at < time ? by : 0;
      time += ahead;
    };
    for (Op& op : recorded.program.ranks[rank]) {
      show(op.enter);
      show(op.leave);
    }
    show(recorded.ends[rank]);
  }
  recorded.text = as_text(recorded.program, recorded.ends, threads);
  return recorded;
}

constexpr unsigned kSeeds = 500;

}  // namespace

TEST_CASE("random programs on eager machines") {
  Machine near;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record(seed, false, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             bandela(near), bandela(far)};
    const auto source = parse_text_trace(recorded.text);
    ReplayOptions options;
    options.verify = true;
    const Results results = run_replay(*source, scenarios, options);

    // Every message is matched once.
    CHECK(results.trace.messages == recorded.program.messages.size());
    CHECK(results.trace.unmatched_sends == 0);
    CHECK(results.trace.unmatched_receives == 0);
    CHECK(results.trace.clock_violations.total() == 0);

    // `measured` gives the recording back.
    CHECK(results.identity->differing == 0);
    const std::vector<double> measured = ends_of(results.scenarios[0]);
    check_near(measured, recorded.ends);

    // The engine agrees with the reference.
    const std::vector<double> perfect = ends_of(results.scenarios[1]);
    const std::vector<double> few = ends_of(results.scenarios[2]);
    const std::vector<double> many = ends_of(results.scenarios[3]);
    check_near(perfect, Reference(recorded.program, Machine()).run());
    check_near(few, Reference(recorded.program, near).run());
    check_near(many, Reference(recorded.program, far).run());

    // Nothing beats perfect, and more latency helps nobody.
    check_not_later(perfect, measured);
    check_not_later(perfect, few);
    check_not_later(few, many);
  }
}

TEST_CASE("random programs with overheads, ports and rendezvous") {
  Machine slow_recorder = recorder();
  slow_recorder.rendezvous = 1000;
  slow_recorder.gap = 1;
  Machine near;
  near.o_s = 17;
  near.o_r = 23;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  near.gap = 0.25;
  near.rendezvous = 1000;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record(seed, true, slow_recorder);
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             platform(near), platform(far)};
    const auto source = parse_text_trace(recorded.text);
    ReplayOptions options;
    options.verify = true;
    options.eager_limit = 999;
    const Results results = run_replay(*source, scenarios, options);
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
    CHECK(results.identity->differing == 0);
    const std::vector<double> measured = ends_of(results.scenarios[0]);
    const std::vector<double> perfect = ends_of(results.scenarios[1]);
    const std::vector<double> few = ends_of(results.scenarios[2]);
    const std::vector<double> many = ends_of(results.scenarios[3]);
    check_near(measured, recorded.ends);
    check_near(few, Reference(recorded.program, near).run());
    check_near(many, Reference(recorded.program, far).run());
    check_not_later(perfect, measured);
    check_not_later(perfect, few);
    check_not_later(few, many);
  }
}

// Threads do not hold each other up: a program of which each two ranks are the threads of one takes
// as long as ever. A thread's part of its rank's window ends with its last call.
TEST_CASE("random programs of ranks with two threads") {
  Machine near;
  near.o_s = 17;
  near.o_r = 23;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  near.gap = 0.25;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  far.rendezvous = 1000;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Program program = threaded(seed);
    const auto windows = [&](std::vector<double> ends) {
      for (size_t rank = 1; rank < ends.size(); rank += 2)
        ends[rank / 2 * 2] = std::max(ends[rank - 1], ends[rank] - program.compute_at_end);
      std::vector<double> of_rank;
      for (size_t rank = 0; rank < ends.size(); rank += 2) of_rank.push_back(ends[rank]);
      return of_rank;
    };
    Program recording = program;
    const std::vector<double> ends = Reference(program, recorder()).run(&recording);
    const std::string text = as_text(recording, ends, 2);
    INFO("seed " << seed << "\n" << text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             platform(near), platform(far)};
    const auto source = parse_text_trace(text);
    ReplayOptions options;
    options.verify = true;
    const Results results = run_replay(*source, scenarios, options);
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
    CHECK(results.identity->differing == 0);
    check_near(ends_of(results.scenarios[0]), windows(ends));
    check_near(ends_of(results.scenarios[1]), windows(Reference(program, Machine()).run()));
    check_near(ends_of(results.scenarios[2]), windows(Reference(program, near).run()));
    check_near(ends_of(results.scenarios[3]), windows(Reference(program, far).run()));
    check_not_later(ends_of(results.scenarios[1]), ends_of(results.scenarios[0]));
  }
}

// The recording is wrong in who came first, and in the length of what a jump of a clock falls into.
// The repair brings cause and effect into order and changes nothing else.
TEST_CASE("random programs on clocks that disagree") {
  const size_t threads = GENERATE(1, 2);
  unsigned violated = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record_badly(seed, threads);
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
    ReplayOptions options;
    options.verify = true;
    const auto source = parse_text_trace(recorded.text);
    const Results repaired = run_replay(*source, scenarios, options);
    options.repair = false;
    const Results raw = run_replay(*source, scenarios, options);
    CHECK(repaired.identity->differing == 0);
    CHECK(raw.identity->differing == 0);
    CHECK(repaired.trace.clock_violations.total() == raw.trace.clock_violations.total());
    REQUIRE(repaired.trace.clock_repair.has_value() == (raw.trace.clock_violations.total() > 0));
    if (repaired.trace.clock_repair) {
      ++violated;
      CHECK(repaired.trace.clock_repair->after.total() == 0);
      CHECK(repaired.trace.clock_repair->largest_shift > 0);
    }
    // Later, but with the compute of the recording to the tick; which is all that a model looks at.
    check_not_later(ends_of(raw.scenarios[0]), ends_of(repaired.scenarios[0]));
    for (size_t rank = 0; rank < raw.scenarios[0].ranks.size(); ++rank) {
      INFO("rank " << rank);
      CHECK(repaired.scenarios[0].ranks[rank].compute == raw.scenarios[0].ranks[rank].compute);
    }
    check_same_bits(repaired.scenarios[1], raw.scenarios[1]);
    check_not_later(ends_of(repaired.scenarios[1]), ends_of(repaired.scenarios[0]));
  }
  CHECK(violated > kSeeds / 5);  // the test has something to repair
}

TEST_CASE("random programs: lanes, single runs and repeated runs agree to the last bit") {
  for (unsigned seed = 0; seed < kSeeds / 5; ++seed) {
    const Recorded recorded = record(seed, true, recorder());
    INFO("seed " << seed);
    std::vector<Scenario> scenarios;
    for (int i = 1; i <= 11; ++i) {
      Machine machine;
      machine.o_s = 7 + i;
      machine.o_r = 3 * i;
      machine.node_latency = 100.0 / 3 * i;
      machine.network_latency = 1e4 / 7 * i;
      machine.per_byte = 0.3 * i;
      machine.gap = 0.1 * i;
      machine.rendezvous = i % 2 ? 1000 : 4000;  // two structures
      scenarios.push_back(platform(machine));
    }
    for (const char* text : {"measured", "measured:cpu*3", "undisturbed"})
      scenarios.push_back(parse_scenario(text));
    ReplayOptions options;
    options.overhead = RecordingOverhead{5e-9, 3e-9, 2e-9, 1e-9};
    const auto source = parse_text_trace(recorded.text);
    const Results together = run_replay(*source, scenarios, options);
    const Results again = run_replay(*source, scenarios, options);
    for (size_t i = 0; i < scenarios.size(); ++i) {
      check_same_bits(together.scenarios[i], again.scenarios[i]);
      const auto alone = parse_text_trace(recorded.text);
      check_same_bits(together.scenarios[i],
                      run_replay(*alone, {scenarios[i]}, options).scenarios[0]);
      // Overheads are never taken out of time that is not there.
      for (const RankResult& rank : together.scenarios[i].ranks) CHECK(rank.compute >= 0);
    }
  }
}
