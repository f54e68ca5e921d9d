// Transplant on seeded pairs of recordings, for every kind of operation.
//
// Two recordings of one program on one machine differ in one stretch of compute: `delta` more on
// one rank. What follows from that on the machine is in the second recording alone; `measured`,
// with `delta` added to the first, has to give the second, tick by tick. The machine is a closed
// form:
//
//   leave = max(enter + kCall, W + kAfter)
//
// where W is the time of the last event for which the call waits (given in a line for every round
// below), and leave = enter + kCall for calls that do not wait. Recordings start with every round
// twice, with the waiting rank first and last, so that both constants show; the tested part
// follows.

#include "tests/unit/transplant.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "models/scenario/scenario.h"
#include "replay/rules/model_rules.h"
#include "tests/unit/lottery.h"
#include "tests/unit/seeds.h"

using namespace rubato;

namespace {

constexpr int kRanks = 4;
constexpr double kCall = 20;
constexpr double kAfter = 60;
constexpr double kNobody = -std::numeric_limits<double>::infinity();
constexpr double kEagerLimit = 1000;

/// The rank that comes first to a round.
enum class Haste { kAny, kWaiters, kOthers };

class Recorder {
 public:
  /// The stretch number `marked` is the one that is `delta` longer.
  Recorder(unsigned seed, int marked, double delta)
      : random_(seed), marked_(marked), delta_(delta) {
    text_.precision(17);
    text_ << "comm 1 2 0 3\ncomm 2 0 1 | 2 3\nwindow 1\nneighbours 0 0 from 3 1 to 3 1\n"
             "neighbours 0 1 from 0 2 to 0 2\nneighbours 0 2 from 1 3 to 1 3\n"
             "neighbours 0 3 from 2 0 to 2 0\n";
    for (int rank = 0; rank < kRanks; ++rank) text_ << rank << ": 0..0 init\n";
  }

  std::string make() {
    for (size_t round = 0; round < rounds().size(); ++round) {
      for (const Haste haste : {Haste::kWaiters, Haste::kOthers}) {
        all_to_all(0, "barrier");
        haste_ = haste;
        rounds()[round](*this);
        haste_ = Haste::kAny;
      }
    }
    begun_ = true;
    for (int i = 0; i < 60; ++i) {
      if (below(8) == 0) all_to_all(0, "barrier");
      rounds()[below(static_cast<int>(rounds().size()))](*this);
    }
    for (int rank = 0; rank < kRanks; ++rank) text_ << rank << ": " << now_[rank] + 5 << " end\n";
    return text_.str();
  }

  int stretches() const { return stretches_; }

 private:
  using Round = std::function<void(Recorder&)>;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// The rank computes and enters a call.
  double enter(int rank, bool waits, int least = 0) {
    int ticks = least + 10 + below(3000);
    if (haste_ != Haste::kAny) ticks = waits == (haste_ == Haste::kWaiters) ? 15 : 4000;
    const bool is_marked = begun_ && least == 0 && stretches_++ == marked_;
    return now_[rank] += is_marked ? Delayed::kMarked + delta_ : ticks;
  }
  void leave(int rank, double entered, double leave, const std::string& what) {
    text_ << rank << ": " << entered << ".." << leave << ' ' << what << '\n';
    now_[rank] = leave;
  }
  /// It waits for what happens at `cause`.
  void wait(int rank, double entered, double cause, const std::string& what) {
    leave(rank, entered, std::max(entered + kCall, cause + kAfter), what);
  }
  /// It does not wait: the time when it is entered.
  double call(int rank, const std::string& what, bool waits = false) {
    const double entered = enter(rank, waits);
    leave(rank, entered, entered + kCall, what);
    return entered;
  }
  int other(int rank) { return (rank + 1 + below(kRanks - 1)) % kRanks; }
  static std::string s(int number) { return " " + std::to_string(number) + " "; }

  // --- Messages: a receive waits for the send, a synchronous send for the post ---

  void message(const std::string& send, const std::string& size, bool send_waits) {
    const int a = below(kRanks);
    const int b = other(a);
    const double sent = enter(a, send_waits);
    const double posted = enter(b, !send_waits);
    wait(a, sent, send_waits ? posted : kNobody, send + s(b) + size);
    wait(b, posted, sent, "recv" + s(a) + size);
  }
  void requests(const std::string& send, const std::string& complete, bool send_waits) {
    const int a = below(kRanks);
    const int b = other(a);
    const double posted = call(b, "irecv" + s(a) + "8B req 1", !send_waits);
    const double sent = call(a, send + s(b) + "8B req 2", send_waits);
    wait(a, enter(a, true), send_waits ? posted : kNobody, complete + " 2");
    wait(b, enter(b, true), sent, complete + " 1");
  }
  void waitall() {
    const double first = call(0, "send 3 8B");
    const double second = call(1, "send 3 8B");
    call(3, "irecv 0 8B req 1", true);
    call(3, "irecv 1 8B req 2", true);
    wait(3, enter(3, true), std::max(first, second), "waitall 2 1");
  }
  void sendrecv() {
    const int a = below(kRanks);
    const int b = other(a);
    const double at_a = enter(a, true);
    const double at_b = enter(b, false);
    wait(a, at_a, at_b, "sendrecv" + s(b) + "8B" + s(b) + "8B");
    wait(b, at_b, at_a, "sendrecv" + s(a) + "8B" + s(a) + "8B");
  }
  /// It leaves when the second partition is ready.
  void partitioned() {
    const int a = below(kRanks);
    const int b = other(a);
    call(b, "irecv" + s(a) + "8B req 1 partitioned", true);
    call(a, "isend" + s(b) + "8B req 2 partitioned");
    call(a, "pready 2");
    const double ready = call(a, "pready 2");
    call(a, "wait 2");
    wait(b, enter(b, true), ready, "wait 1");
  }

  // --- Collectives: what is awaited includes the own enter where all, or those below, are ---

  static const std::vector<int>& members(int comm) {
    static const std::vector<int> of[] = {{0, 1, 2, 3}, {2, 0, 3}, {0, 1, 2, 3}};
    return of[comm];
  }
  /// `cause` says, by the enters of all members and the place of one, what that one waits for.
  using Cause = std::function<double(const std::vector<double>&, size_t)>;

  /// `own` is the part of the line that differs between members.
  void collective(
      int comm, const std::string& what, const Cause& cause,
      const std::function<std::string(size_t)>& own = [](size_t) { return ""; }) {
    const std::vector<int>& ranks = members(comm);
    std::vector<double> enters;
    const std::vector<double> probe(ranks.size(), 0);
    for (size_t i = 0; i < ranks.size(); ++i)
      enters.push_back(enter(ranks[i], cause(probe, i) != kNobody));
    for (size_t i = 0; i < ranks.size(); ++i)
      wait(ranks[i], enters[i], cause(enters, i), what + own(i) + " comm" + s(comm));
  }
  /// The same, started and completed; `start` has the request 1 in it.
  void started(
      int comm, const std::string& start, const Cause& cause,
      const std::function<std::string(size_t)>& own = [](size_t) { return ""; }) {
    const std::vector<int>& ranks = members(comm);
    const std::vector<double> probe(ranks.size(), 0);
    std::vector<double> enters;
    for (size_t i = 0; i < ranks.size(); ++i)
      enters.push_back(
          call(ranks[i], start + own(i) + " comm" + s(comm), cause(probe, i) != kNobody));
    for (size_t i = 0; i < ranks.size(); ++i)
      wait(ranks[i], enter(ranks[i], true), cause(enters, i), "wait 1");
  }
  static double last(const std::vector<double>& enters, size_t) {
    return *std::max_element(enters.begin(), enters.end());
  }
  void all_to_all(int comm, const std::string& what) { collective(comm, what, last); }
  static Cause from_root(size_t root) {
    return [root](const std::vector<double>& enters, size_t me) {
      return me == root ? kNobody : enters[root];
    };
  }
  static Cause to_root(size_t root) {
    return [root](const std::vector<double>& enters, size_t me) {
      return me == root ? last(enters, me) : kNobody;
    };
  }
  static double prefix(const std::vector<double>& enters, size_t me) {
    if (me == 0) return kNobody;
    return *std::max_element(enters.begin(), enters.begin() + static_cast<long>(me) + 1);
  }
  static double other_group(const std::vector<double>& enters, size_t me) {
    return me < 2 ? std::max(enters[2], enters[3]) : std::max(enters[0], enters[1]);
  }
  /// Each member sends to the next one alone.
  static double one_before(const std::vector<double>& enters, size_t me) {
    return std::max(enters[me], enters[(me + enters.size() - 1) % enters.size()]);
  }
  static std::string to_the_next(size_t me) {
    std::string parts = " parts";
    for (size_t i = 0; i < kRanks; ++i) parts += i == (me + 1) % kRanks ? " 8B" : " 0B";
    return parts;
  }
  /// For a ring in both directions, from both sides; the own enter is not a message.
  static double neighbours(const std::vector<double>& enters, size_t me) {
    return std::max(enters[(me + 1) % kRanks], enters[(me + kRanks - 1) % kRanks]);
  }

  /// Blocking, started and persistent; on the world and on another communicator.
  void any_form(const std::string& name, const std::string& sizes, int comm, int form,
                const std::function<Cause(size_t)>& cause, bool rooted) {
    const auto root = static_cast<size_t>(below(3));
    const std::string rest = " " + sizes + (rooted ? " root" + s(static_cast<int>(root)) : "");
    if (form == 0) return collective(comm, name + rest, cause(root));
    std::string start = name == "comm_create" ? "comm_idup" : "i" + name;
    start += rest + " req 1";
    if (form == 2) start += " persistent" + s(++persistent_);
    started(comm, start, cause(root));
  }

  // --- One-sided ---

  void fence() {
    call(0, "put 1 8B");
    call(1, "get 0 8B");
    all_to_all(0, "win_fence");
  }
  /// A start waits for the post, and so does a complete; a wait for the complete.
  void epoch() {
    const int a = below(kRanks);
    const int b = other(a);
    const double posted = enter(b, false);
    leave(b, posted, posted + kCall, "win_post" + s(a));
    wait(a, enter(a, true), posted, "win_start" + s(b));
    call(a, "put" + s(b) + "8B");
    const double completed = enter(a, false);
    wait(a, completed, posted, "win_complete");
    wait(b, enter(b, true), completed, "win_wait");
  }
  /// A lock waits for the unlock of the previous holder, which must not depend on `delta`: all
  /// synchronise before, the first requests it at once, and the second long after that but before
  /// the first is done.
  void locks() {
    all_to_all(0, "barrier");
    const int target = below(kRanks);
    const int a = (target + 1) % kRanks;  // not the target: what a lock there takes is another time
    const int b = (target + 2 + below(2)) % kRanks;
    for (const int rank : {a, b}) {
      const double locked = now_[rank] += rank == a ? 15 : 500;
      wait(rank, locked, unlocked_[target], "win_lock" + s(target) + "exclusive");
      call(rank, "put" + s(target) + "8B");
      unlocked_[target] = enter(rank, false, 4000);
      leave(rank, unlocked_[target], unlocked_[target] + kCall, "win_unlock" + s(target));
    }
  }

  static const std::vector<Round>& rounds() {
    static const std::vector<Round> all = make_rounds();
    return all;
  }
  static std::vector<Round> make_rounds();

  std::mt19937 random_;
  int marked_;
  double delta_;
  bool begun_ = false;  ///< what may be marked
  int stretches_ = 0;
  int persistent_ = 0;
  Haste haste_ = Haste::kAny;
  std::vector<double> now_ = std::vector<double>(kRanks, 0);
  std::map<int, double> unlocked_ = {{0, kNobody}, {1, kNobody}, {2, kNobody}, {3, kNobody}};
  std::ostringstream text_;
};

std::vector<Recorder::Round> Recorder::make_rounds() {
  std::vector<Round> rounds = {
      [](Recorder& r) { r.message("send", "8B", false); },
      [](Recorder& r) { r.message("bsend", "8B", false); },
      [](Recorder& r) { r.message("ssend", "8B", true); },
      [](Recorder& r) { r.message("send", "5000B", true); },  // above the eager limit
      [](Recorder& r) { r.requests("isend", "wait", false); },
      [](Recorder& r) { r.requests("isend", "waitany", false); },
      [](Recorder& r) { r.requests("isend", "waitsome", false); },
      [](Recorder& r) { r.requests("issend", "wait", true); },
      [](Recorder& r) { r.waitall(); },
      [](Recorder& r) { r.sendrecv(); },
      [](Recorder& r) { r.partitioned(); },
      [](Recorder& r) { r.call(r.below(kRanks), "local MPI_File_read"); },
      [](Recorder& r) { r.fence(); },
      [](Recorder& r) { r.epoch(); },
      [](Recorder& r) { r.locks(); },
      // Between groups: all-to-all, to and from a root (the others of its group do not wait).
      [](Recorder& r) { r.collective(2, "allreduce 16B 16B", other_group); },
      [](Recorder& r) { r.started(2, "iallgather 16B 16B req 1", other_group); },
      [](Recorder& r) {
        r.collective(
            2, "bcast 16B 16B",
            [](const std::vector<double>& enters, size_t me) {
              return me < 2 ? kNobody : enters[1];
            },
            [](size_t me) { return me == 0 ? " root -2" : " root 1"; });
      },
      [](Recorder& r) {
        r.collective(
            2, "gather 16B 16B",
            [](const std::vector<double>& enters, size_t me) {
              return me == 1 ? std::max(enters[2], enters[3]) : kNobody;
            },
            [](size_t me) { return me == 0 ? " root -2" : " root 1"; });
      },
      // In a ring some wait for some.
      [](Recorder& r) { r.collective(0, "alltoallv 8B 8B", one_before, to_the_next); },
      [](Recorder& r) { r.collective(0, "alltoallw 8B 8B", one_before, to_the_next); },
      [](Recorder& r) { r.started(0, "ialltoallv 8B 8B req 1", one_before, to_the_next); },
      [](Recorder& r) { r.collective(0, "neighbor_alltoall 16B 16B", neighbours); },
      [](Recorder& r) { r.started(0, "ineighbor_allgather 16B 16B req 1", neighbours); },
  };
  for (int form = 0; form < 3; ++form) {
    const auto add = [&](const std::string& name, const std::string& sizes,
                         const std::function<Cause(size_t)>& cause, bool rooted = false) {
      for (const int comm : {0, 1})
        rounds.push_back([=](Recorder& r) { r.any_form(name, sizes, comm, form, cause, rooted); });
    };
    for (const char* name : {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
                             "allreduce", "reduce_scatter", "reduce_scatter_block", "barrier"})
      add(name, "48B 48B", [](size_t) { return last; });
    for (const char* name : {"bcast", "scatter", "scatterv"}) add(name, "8B 8B", from_root, true);
    for (const char* name : {"reduce", "gather", "gatherv"}) add(name, "8B 8B", to_root, true);
    for (const char* name : {"scan", "exscan"}) add(name, "8B 8B", [](size_t) { return prefix; });
    if (form < 2) add("comm_create", "", [](size_t) { return last; });
  }
  return rounds;
}

/// When each call leaves by its line, by rank; before those the beginning, at 0.
std::vector<std::vector<double>> leaves_in(const std::string& text) {
  std::vector<std::vector<double>> leaves(kRanks, {0});
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t times = line.find(": ");
    if (times == std::string::npos) continue;
    const size_t dots = line.find("..");
    const size_t leave = dots == std::string::npos ? times : dots;
    leaves[std::stoul(line)].push_back(std::stod(line.substr(leave + 2)));
  }
  return leaves;
}

/// The first call, by the time it should leave, that leaves at another time; "" when none does.
std::string first_difference(const std::string& text, const std::vector<std::vector<double>>& got,
                             const std::vector<std::vector<double>>& truth) {
  std::string first;
  double at = std::numeric_limits<double>::infinity();
  for (int rank = 0; rank < kRanks; ++rank) {
    REQUIRE(got[rank].size() == truth[rank].size());
    std::istringstream in(text);
    size_t next = 1;  // behind the beginning
    for (std::string line; std::getline(in, line);) {
      if (line.rfind(std::to_string(rank) + ":", 0) != 0) continue;
      const size_t call = next++;
      if (got[rank][call] == truth[rank][call] || truth[rank][call] >= at) continue;
      at = truth[rank][call];
      first = line + " leaves at " + std::to_string(got[rank][call]) + ", not at " +
              std::to_string(truth[rank][call]);
    }
  }
  return first;
}

}  // namespace

TEST_CASE("transplant: every kind of operation, on seeded pairs of recordings") {
  unsigned moved = 0;
  for (unsigned seed = 0; seed < seeds(10); ++seed) {
    Recorder whole(seed, -1, 0);
    whole.make();
    std::mt19937 random(seed);
    const int marked = static_cast<int>(random() % static_cast<unsigned>(whole.stretches()));
    const std::string recorded = Recorder(seed, marked, 0).make();
    const auto as_recorded = leaves_in(recorded);
    CHECK(first_difference(recorded, transplant(recorded, 0, kEagerLimit), as_recorded) == "");
    for (const double delta : {1., 40., 700., 5000., 60000., -300., -7000.}) {
      const std::string delayed = Recorder(seed, marked, delta).make();
      INFO("seed " << seed << ", delta " << delta);
      const auto truth = leaves_in(delayed);
      CHECK(first_difference(recorded, transplant(recorded, delta, kEagerLimit), truth) == "");
      moved += truth != as_recorded;
    }
  }
  CHECK(moved > 5 * seeds(10));  // some delays a wait takes up at once
}

// The same programs, on a model and as measured: schedules_test.cc says what is looked at.
TEST_CASE("every kind of operation: timelines may be run in any order") {
  for (unsigned seed = 0; seed < seeds(10); ++seed) {
    INFO("seed " << seed);
    const auto source = parse_text_trace(Recorder(seed, -1, 0).make());
    const TraceDefinitions& trace = source->definitions();
    LaneMachines machine;
    machine.pairs = Pairs(Placement(trace.node_of_rank));
    machine.interconnects.emplace_back(
        parse_scenario("bandela:latency=200ns,bandwidth=1GB/s").platform);
    machine.names = {"machine"};
    machine.cpu = {1};
    const LockOrder locks(*source);
    const EagerLimits limits;
    const RecordedMinima minima = minima_of(*source, machine.pairs.placement(), limits, &locks);
    const auto leaves = [&](auto rules) {
      Leaves observer(trace.ranks());
      const ReplayOutcome outcome =
          replay_calls(*source, rules, {.observers = {&observer}, .locks = &locks});
      CHECK(outcome.deadlock.empty());
      return observer.by_rank;
    };
    const std::vector<MeasuredLane> lane = {MeasuredLane{}};
    const auto model = leaves(ModelRules<1>(machine, trace));
    const auto measured = leaves(MeasuredRules<1>(lane, minima, machine.pairs.placement(), limits));
    for (unsigned draw = 0; draw < 4; ++draw) {
      Lottery::random.seed(7 * seed + draw);
      CHECK(leaves(Drawn<ModelRules<1>>(machine, trace)) == model);
      CHECK(leaves(Drawn<MeasuredRules<1>>(lane, minima, machine.pairs.placement(), limits)) ==
            measured);
    }
  }
}
