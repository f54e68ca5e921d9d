#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/collective/collectives.h"
#include "replay/trace/action.h"

/// Random programs without deadlock, and what a tracer would write of them.
namespace rubato::property {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

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
  kStart,  ///< of a collective
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
  std::vector<int> started;       ///< and then: instances of collectives
  CollectiveOp collective = CollectiveOp::kBarrier;
  int comm = 0, root = kNoRoot, bytes = 0;
  int instance = 0;
  double enter = 0, leave = 0;  ///< as recorded
};

/// Messages with this tag are in partitions, at both ends.
inline constexpr int kTagOfPartitioned = 2;

/// Every third collective that is started is a persistent one, started once.
inline bool is_persistent(const Op& op) {
  return op.kind == Kind::kStart && op.instance % 3 == 0 &&
         op.collective != CollectiveOp::kCreateHandle;
}

/// Every second local call is an MPI_Test that finds nothing: it takes as long, but is progress.
inline bool looks(const Op& op) {
  return op.kind == Kind::kLocal && op.compute % 2 == 1;
}

struct Program {
  std::vector<int> nodes;               ///< by rank
  std::vector<std::vector<int>> comms;  ///< 0 is the world
  std::vector<Message> messages;
  std::vector<std::vector<Op>> ranks;
  std::vector<Op> instances;  ///< collectives, by Op::instance
  int compute_at_end = 7;
};

inline const std::map<CollectiveOp, const char*> kNames = {
    {CollectiveOp::kBarrier, "barrier"},
    {CollectiveOp::kBcast, "bcast"},
    {CollectiveOp::kGather, "gather"},
    {CollectiveOp::kGatherv, "gatherv"},
    {CollectiveOp::kScatter, "scatter"},
    {CollectiveOp::kScatterv, "scatterv"},
    {CollectiveOp::kAllgather, "allgather"},
    {CollectiveOp::kAllgatherv, "allgatherv"},
    {CollectiveOp::kAlltoall, "alltoall"},
    {CollectiveOp::kAlltoallv, "alltoallv"},
    {CollectiveOp::kAlltoallw, "alltoallw"},
    {CollectiveOp::kAllreduce, "allreduce"},
    {CollectiveOp::kReduce, "reduce"},
    {CollectiveOp::kReduceScatter, "reduce_scatter"},
    {CollectiveOp::kReduceScatterBlock, "reduce_scatter_block"},
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
    started_.resize(ranks);
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
    std::deque<int> sent, posted;  ///< messages of one channel with only one side so far
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
    one_side(members[below(n)], members[below(n)], comm, below(3), below(2) == 0);
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
    const Kind drawn = kind[below(kinds == 5 ? 5 : 4)];
    const Kind chosen = message.tag == kTagOfPartitioned ? Kind::kIsend : drawn;
    add(message.source, chosen).out = id;
    message.sent = true;
    if (chosen == Kind::kIsend || chosen == Kind::kIssend)
      open_[message.source].push_back({id, chosen});
  }

  void receive(int id, bool blocking) {
    Message& message = program_.messages[id];
    blocking = blocking && message.tag != kTagOfPartitioned;
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
    Op what;
    what.kind = below(3) ? Kind::kCollective : Kind::kStart;
    what.collective = chosen->first;
    what.comm = comm;
    what.root = root;
    what.bytes = 8 * (1 + below(3000));
    what.instance = static_cast<int>(program_.instances.size());
    for (const int rank : members) {
      Op& op = add(rank, what.kind);
      const int compute = op.compute;
      op = what;
      op.compute = compute;
      if (what.kind == Kind::kStart) started_[rank].push_back(what.instance);
    }
    program_.instances.push_back(what);
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
    // All members come to a collective in one step, so that waiting for it cannot hang.
    auto& started = started_[rank];
    std::shuffle(started.begin(), started.end(), random_);
    const size_t left = all ? 0 : static_cast<size_t>(below(static_cast<int>(started.size()) + 1));
    const std::vector<int> done(started.begin() + static_cast<long>(left), started.end());
    started.resize(left);
    if (completed.empty() && done.empty()) return;
    Op& op = add(rank, Kind::kWait);
    op.requests = completed;
    op.started = done;
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
  std::vector<std::vector<int>> started_;                ///< instances of collectives by rank
};

/// The bytes that Score-P counts as sent and received by rank `me` of `n` (conventions B.2).
inline std::pair<long, long> logical_bytes(CollectiveOp op, long n, long me, bool root, long b) {
  switch (op) {
    case CollectiveOp::kBcast:
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return {root ? n * b : 0, b};
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
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

/// Number of the request that starts an instance of a collective; those of messages are smaller.
inline int collective_request(int instance) {
  return 1000000 + instance;
}

/// With `threads` 2 each two ranks become the threads of one: a message's tag then names them. Such
/// a program has no collectives, which are the ranks', and no MPI_Sendrecv, which has one tag here;
/// and every rank is in every communicator.
inline std::string as_text(const Program& program, const std::vector<double>& ends,
                           size_t threads = 1) {
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
  const char* names[] = {"send",  "ssend", "bsend",    "isend", "issend", "recv",
                         "irecv", "wait",  "sendrecv", "",      "",       "local MPI_Comm_rank"};
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const size_t thread = rank % threads;
    const std::string name =
        std::to_string(rank / threads) + (thread > 0 ? "." + std::to_string(thread) : "");
    out << '\n' << name << ": 0..0 " << (thread > 0 ? "local MPI_Comm_rank" : "init");
    for (const Op& op : program.ranks[rank]) {
      const bool partitioned =
          op.kind == Kind::kIsend || op.kind == Kind::kIrecv
              ? program.messages[std::max(op.out, op.in)].tag == kTagOfPartitioned
              : false;
      // In partitions a message leaves when they are ready, and what starts it takes no time.
      const bool ready_later = partitioned && op.kind == Kind::kIsend;
      out << '\n' << name << ": " << op.enter << ".." << (ready_later ? op.enter : op.leave) << ' ';
      if (op.kind == Kind::kCollective || op.kind == Kind::kStart) {
        const auto& members = program.comms[op.comm];
        const long me =
            std::find(members.begin(), members.end(), static_cast<int>(rank)) - members.begin();
        const auto [sent, received] = logical_bytes(
            op.collective, static_cast<long>(members.size()), me, me == op.root, op.bytes);
        const std::string blocking = kNames.at(op.collective);
        if (op.kind == Kind::kCollective) {
          out << blocking;
        } else {
          out << (blocking == "comm_create" ? "comm_idup" : "i" + blocking) << " req "
              << collective_request(op.instance);
          if (is_persistent(op)) out << " persistent " << op.instance + 1;
        }
        out << ' ' << sent << "B " << received << "B comm " << op.comm;
        if (op.root >= 0) out << " root " << op.root;
        continue;
      }
      out << (looks(op) ? "test" : names[static_cast<int>(op.kind)]);
      for (const auto& [id, is_receive] : op.requests) out << ' ' << 2 * id + is_receive;
      for (const int instance : op.started) out << ' ' << collective_request(instance);
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
      if (partitioned) out << " partitioned";
      if (ready_later)
        out << '\n' << name << ": " << op.enter << ".." << op.leave << " pready " << 2 * id;
    }
    out << '\n' << name << ": " << ends[rank] << " end";
  }
  out << '\n';
  return out.str();
}

/// A program in which each two ranks can become the threads of one.
inline Program threaded(unsigned seed) {
  Program program = Generator(seed, true).make();
  for (auto& ops : program.ranks) {
    for (Op& op : ops) op.started.clear();
    std::erase_if(ops, [](const Op& op) {
      return op.kind == Kind::kCollective || op.kind == Kind::kStart ||
             op.kind == Kind::kSendrecv || (op.kind == Kind::kWait && op.requests.empty());
    });
  }
  for (size_t rank = 1; rank < program.nodes.size(); rank += 2)
    program.nodes[rank] = program.nodes[rank - 1];
  return program;
}

}  // namespace rubato::property
