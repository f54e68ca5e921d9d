// Algorithms of collectives as lists of messages: the data gets where it has to, and the list takes
// as long as the closed forms of their phases, which are written beside the messages, not derived.

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <tuple>

#include "models/collective/collective_schedule.h"

using namespace rubato;

namespace {

const std::vector<CollectiveOp> kOps = {
    CollectiveOp::kBarrier,   CollectiveOp::kBcast,     CollectiveOp::kGather,
    CollectiveOp::kScatter,   CollectiveOp::kAllgather, CollectiveOp::kAlltoall,
    CollectiveOp::kAllreduce, CollectiveOp::kReduce,    CollectiveOp::kReduceScatterBlock,
    CollectiveOp::kScan};

/// True for the algorithms that consist of other operations.
bool is_composite(Algorithm algorithm) {
  return algorithm == Algorithm::kReduceBcast || algorithm == Algorithm::kGatherBcast ||
         algorithm == Algorithm::kReduceScatter;
}

/// The members whose data each member has at the end: a message carries all that its sender had
/// before its step.
std::vector<std::vector<bool>> spread_of(const std::vector<ScheduledMessage>& schedule, int p) {
  std::vector<std::vector<bool>> has(p, std::vector<bool>(p));
  for (int member = 0; member < p; ++member) has[member][member] = true;
  auto before = has;
  int step = 0;
  for (const ScheduledMessage& message : schedule) {
    REQUIRE(message.step >= step);
    if (message.step > step) before = has;
    step = message.step;
    for (int of = 0; of < p; ++of) {
      if (before[message.from][of]) has[message.to][of] = true;
    }
  }
  return has;
}

RoundCost machine(double latency, double per_byte, double gap) {
  RoundCost cost;
  cost.move = [=](double n) { return latency + per_byte * n; };
  cost.gap = [=](double n) { return gap + per_byte * n; };
  cost.send = cost.receive = cost.combine = [](double) { return 0.0; };
  return cost;
}

/// The latest arrival if nothing else uses the network and the first step begins at 0: each message
/// takes `cost.move`, and messages of one member in the same direction are `cost.gap` apart, as in
/// algorithm_seconds().
double end_of(const std::vector<ScheduledMessage>& schedule, int p, const RoundCost& cost) {
  struct Member {
    double out = 0;  ///< free for the next message from here on
    double in = -std::numeric_limits<double>::infinity();  ///< latest arrival
    double here = 0;      ///< latest arrival of all steps but the current one
    double now_here = 0;  ///< and with the current one
    int step = 0;
  };
  std::vector<Member> members(p);
  const auto begin_step = [](Member& member, int step) {
    if (step == member.step) return;
    member.step = step;
    member.here = member.now_here;
  };
  double end = 0;
  for (const ScheduledMessage& message : schedule) {
    Member& from = members[message.from];
    Member& to = members[message.to];
    begin_step(from, message.step);
    begin_step(to, message.step);
    const double gap = cost.gap(message.bytes);
    const double start = std::max(from.here, from.out);
    const double arrival = std::max(start + cost.move(message.bytes), to.in + gap);
    from.out = start + gap;
    to.in = arrival;
    to.now_here = std::max(to.now_here, arrival);
    end = std::max(end, arrival);
  }
  return end;
}

void check_each(int p, const std::function<void(CollectiveOp, AlgorithmChoice)>& check) {
  for (const CollectiveOp op : kOps) {
    for (const Algorithm algorithm : algorithms_of(op)) {
      if (is_composite(algorithm)) continue;
      INFO(name_of(op) << " " << name_of(algorithm) << " of " << p);
      check(op, {algorithm, 0});
      if (takes_segments(algorithm)) check(op, {algorithm, 300});
    }
  }
}

}  // namespace

TEST_CASE("a segment for an algorithm that takes none changes nothing") {
  const RoundCost cost = {[](double n) { return 5 + n; }, [](double n) { return 1 + n; },
                          [](double n) { return 2 + n; }, [](double n) { return n; },
                          [](double n) { return 3 + n; }};
  const PartCost part = [](CollectiveOp, double) { return 0.0; };
  const auto messages = [](CollectiveOp op, const AlgorithmChoice& choice) {
    std::vector<std::tuple<int, int, int, int, double>> list;
    for (const int p : {6, 8}) {
      for (const ScheduledMessage& each : algorithm_schedule(op, choice, p, 1000, 0))
        list.emplace_back(p, each.step, each.from, each.to, each.bytes);
    }
    return list;
  };
  for (int number = 0; number < kCollectiveOps; ++number) {
    const auto op = static_cast<CollectiveOp>(number);
    for (const Algorithm algorithm : algorithms_of(op)) {
      if (takes_segments(algorithm)) continue;
      const AlgorithmChoice whole{algorithm, 0}, cut{algorithm, 300};
      CHECK(algorithm_seconds(op, whole, 6, 1000, cost, part) ==
            algorithm_seconds(op, cut, 6, 1000, cost, part));
      for (const bool is_root : {true, false})
        CHECK(departure_seconds(op, whole, 6, 1000, is_root, cost) ==
              departure_seconds(op, cut, 6, 1000, is_root, cost));
      CHECK(messages(op, whole) == messages(op, cut));
    }
  }
}

TEST_CASE("each schedule brings the data where its operation needs it") {
  for (int p = 2; p <= 19; ++p) {
    for (const int root : {0, p / 2}) {
      check_each(p, [&](CollectiveOp op, AlgorithmChoice choice) {
        const auto has = spread_of(algorithm_schedule(op, choice, p, 1000, root), p);
        const Synchronisation who = synchronisation(op);
        for (int member = 0; member < p; ++member) {
          for (int of = 0; of < p; ++of) {
            const bool needed = who == Synchronisation::kOneToAll   ? of == root
                                : who == Synchronisation::kAllToOne ? member == root
                                : who == Synchronisation::kPrefix   ? of <= member
                                                                    : true;
            INFO("member " << member << " needs the data of " << of << ", root " << root);
            if (needed) CHECK(has[member][of]);
          }
        }
      });
    }
  }
}

bool is_binary_tree(Algorithm algorithm) {
  return algorithm == Algorithm::kBinary || algorithm == Algorithm::kInOrderBinary ||
         algorithm == Algorithm::kSplitBinary;
}

// The formulas add up the longest message of each round, as if all members kept step. Where they
// do, with a power of two, lists take the same time; else they take no longer. (Formulas fill the
// lowest level of a binary tree in another order, so those are compared where it is full.)
TEST_CASE("each schedule takes as long as the formula of its algorithm") {
  const RoundCost cost = machine(500, 2, 40);
  RoundCost no_gap = cost;
  no_gap.gap = [](double) { return 0.0; };
  const auto none = [](CollectiveOp, double) { return 0.0; };
  for (int p = 2; p <= 19; ++p) {
    check_each(p, [&](CollectiveOp op, AlgorithmChoice choice) {
      const bool is_power = (p & (p - 1)) == 0;
      const bool is_full = (p & (p + 1)) == 0;
      if (choice.segment > 0 || (is_binary_tree(choice.algorithm) && !is_full)) return;
      const double formula = algorithm_seconds(op, choice, p, 1000, no_gap, none);
      const double list = end_of(algorithm_schedule(op, choice, p, 1000, 0), p, no_gap);
      CHECK(list <= formula * (1 + 1e-12));
      if (is_power) CHECK(list == Approx(formula).epsilon(1e-12));
    });
  }
}

// In trees messages follow each other a gap apart, with any number of members.
TEST_CASE("each schedule of a tree takes as long as its formula with gaps") {
  const RoundCost cost = machine(500, 2, 40);
  const auto none = [](CollectiveOp, double) { return 0.0; };
  for (int p = 2; p <= 19; ++p) {
    check_each(p, [&](CollectiveOp op, AlgorithmChoice choice) {
      using A = Algorithm;
      const A a = choice.algorithm;
      const bool is_tree = a == A::kLinear || a == A::kLinearSync || a == A::kChain ||
                           a == A::kKnomial || a == A::kBinomial;
      if (!is_tree || choice.segment > 0 || op == CollectiveOp::kAlltoall) return;
      const double formula = algorithm_seconds(op, choice, p, 1000, cost, none);
      CHECK(end_of(algorithm_schedule(op, choice, p, 1000, 0), p, cost) ==
            Approx(formula).epsilon(1e-12));
    });
  }
}

// Three segments of 100 bytes down a chain of 4, at 10 + n and a gap of 1 + n ns: the first takes
// 3 * 110 = 330, the others follow 101 apart: 532.
TEST_CASE("segments follow each other down a chain") {
  const auto schedule =
      algorithm_schedule(CollectiveOp::kBcast, {Algorithm::kChain, 100}, 4, 300, 0);
  CHECK(schedule.size() == 9);
  CHECK(end_of(schedule, 4, machine(10, 1, 1)) == Approx(532));
}

// A reduction of 5 members to member 0 and a broadcast behind it: the steps do not overlap.
TEST_CASE("a composed operation has the messages of its parts in sequence") {
  CollectiveModel model;
  model.of(CollectiveOp::kAllreduce).rules = {{2, 0, {Algorithm::kReduceBcast, 0}}};
  model.of(CollectiveOp::kReduce).rules = {{2, 0, {Algorithm::kLinear, 0}}};
  model.of(CollectiveOp::kBcast).rules = {{2, 0, {Algorithm::kLinear, 0}}};
  const auto schedule = collective_schedule(CollectiveOp::kAllreduce, model, 5, 8, -1);
  REQUIRE(schedule.size() == 8);
  CHECK(schedule[3].to == 0);
  CHECK(schedule[4].from == 0);
  CHECK(schedule[4].step > schedule[3].step);
}

// 300 members send 299 messages each: 89,700. A chain of 8 GiB in segments of a byte would have
// more than memory holds.
TEST_CASE("schedules that are too long are cut off") {
  const AlgorithmChoice pairwise{Algorithm::kPairwise, 0};
  CHECK(algorithm_schedule(CollectiveOp::kAlltoall, pairwise, 300, 8, -1).size() ==
        kMostScheduled + 1);
  CHECK(algorithm_schedule(CollectiveOp::kAlltoall, pairwise, 256, 8, -1).size() == 256 * 255);
  const AlgorithmChoice chain{Algorithm::kChain, 1};
  CHECK(algorithm_schedule(CollectiveOp::kBcast, chain, 8, 8e9, 0).size() == kMostScheduled + 1);
}

// Each member begins with its block (Gatherv, Allgatherv), with all (the root of a Scatterv), or
// with its share of each block (Reduce_scatter). A message carries as many blocks as its bytes are;
// their sender has them, and a sum has no share twice.
TEST_CASE("messages carry the blocks of members to where they belong") {
  using Op = CollectiveOp;
  for (const Op op : {Op::kGatherv, Op::kScatterv, Op::kAllgatherv, Op::kReduceScatter}) {
    const bool reduces = op == Op::kReduceScatter;
    for (const Algorithm algorithm : algorithms_of(op)) {
      if (is_composite(algorithm)) continue;
      for (int p = 2; p <= 19; ++p) {
        const int root = is_rooted(op) ? p / 2 : 0;
        INFO(name_of(op) << " " << name_of(algorithm) << " of " << p);
        // By member and block: the members whose shares are in it.
        std::vector<std::vector<uint32_t>> has(p, std::vector<uint32_t>(p));
        for (int member = 0; member < p; ++member) {
          for (int block = 0; block < p; ++block) {
            const bool begins = op == Op::kScatterv ? member == root : reduces || member == block;
            if (begins) has[member][block] = 1U << (reduces ? member : 0);
          }
        }
        auto before = has;
        int step = 0;
        for (const ScheduledMessage& message : algorithm_schedule(op, {algorithm}, p, 1, root)) {
          if (message.step > step) before = has;
          step = message.step;
          const bool all = message.first == ScheduledMessage::kShare;
          REQUIRE((!all || message.bytes == 0 || message.bytes == p));
          for (int i = 0; i < static_cast<int>(message.bytes); ++i) {
            const int block = all ? i : (message.first + i) % p;
            const uint32_t sent = before[message.from][block];
            uint32_t& got = has[message.to][block];
            CHECK(sent != 0);
            if (message.combines) CHECK((sent & got) == 0);
            got = message.combines ? sent | got : sent;
          }
        }
        for (int member = 0; member < p; ++member) {
          for (int block = 0; block < p; ++block) {
            const bool needs = op == Op::kGatherv    ? member == root
                               : op == Op::kScatterv ? member == block
                               : reduces             ? member == block
                                                     : true;
            const uint32_t whole = reduces ? (1U << p) - 1 : 1;
            INFO("member " << member << ", block " << block);
            if (needs) CHECK(has[member][block] == whole);
          }
        }
      }
    }
  }
}
