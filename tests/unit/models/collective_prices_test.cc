// Replayed cost of collectives priced by a formula of the platform file, or free: every operation,
// blocking, nonblocking and persistent. Times in ns.

#include <catch2/catch.hpp>
#include <sstream>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/random_programs.h"

using namespace rubato;

namespace {

constexpr double kEnters[] = {10, 20, 30, 400};
constexpr double kTogether[] = {10, 10, 10, 10};
constexpr int kRanks = 4;
constexpr int kRoot = 1;
/// Every member's payload is 8 bytes: 1000 + 2 * 8.
constexpr double kPrice = 1016;

Scenario machine(CollectiveOp op, const std::string& pricing) {
  Scenario scenario;
  scenario.name = pricing;
  scenario.platform = parse_platform(
      "format = 1\n[level.node]\n"
      "transfer = [ { from = \"0B\", latency = \"7us\", bandwidth = \"1GB/s\" } ]\n"
      "gap = \"0s\"\n[collectives]\nmodel = \"" +
          pricing + "\"\n[collectives." + name_of(op) +
          "]\nformula = [ { constant = \"1us\", d = \"2ns\" } ]\n",
      "machine");
  return scenario;
}

/// Ranks enter the call at `enters` and compute 10 behind it.
std::string program(CollectiveOp op, const std::string& form, const double* enters) {
  std::ostringstream text;
  const std::string name = property::kNames.at(op);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto [sent, received] = property::logical_bytes(op, kRanks, rank, rank == kRoot, 8);
    const std::string line = std::to_string(rank) + ": ";
    std::ostringstream sizes;
    sizes << ' ' << sent << "B " << received << "B";
    if (is_rooted(op)) sizes << " root " << kRoot;
    text << line << "0..0 init\n" << line << enters[rank];
    if (form == "blocking") {
      text << "..5000 " << name << sizes.str() << '\n';
    } else {
      text << ".." << enters[rank] << " i" << name << sizes.str() << " req 1"
           << (form == "persistent" ? " persistent 1" : "") << '\n'
           << line << enters[rank] << "..5000 wait 1\n";
    }
    text << line << "5010 end\n";
  }
  return text.str();
}

/// When a rank is done, where a collective takes nothing from the last one that it waits for on.
double done(CollectiveOp op, int rank) {
  switch (synchronisation(op)) {
    case Synchronisation::kOneToAll:  // no rank does anything after it
      return rank == kRoot ? kEnters[rank] : std::max(kEnters[rank], kEnters[kRoot]);
    case Synchronisation::kAllToOne:
      return rank == kRoot ? kEnters[3] : kEnters[rank];
    case Synchronisation::kPrefix:  // they come in the order of ranks
      return kEnters[rank];
    case Synchronisation::kAllToAll:
      break;
  }
  return kEnters[3];
}

}  // namespace

TEST_CASE("every collective is priced by the formula of its platform, in every form") {
  for (int number = 0; number < kCollectiveOps; ++number) {
    const auto op = static_cast<CollectiveOp>(number);
    for (const char* form : {"blocking", "started", "persistent"}) {
      INFO(form << ' ' << name_of(op));
      // For simultaneous enters: the last member is done after the price, and no other member
      // later.
      const auto together = parse_text_trace(program(op, form, kTogether));
      const Results priced = run_replay(*together, {machine(op, "analytic")}, {});
      CHECK(priced.trace.kept.empty());
      const double price = op == CollectiveOp::kBarrier ? 1000 : kPrice;
      double last = 0;
      for (const RankResult& rank : priced.scenarios[0].ranks)
        last = std::max(last, rank.end * 1e9);
      CHECK(last == Approx(10 + price + 10));

      const auto source = parse_text_trace(program(op, form, kEnters));
      const Results free = run_replay(*source, {machine(op, "perfect")}, {});
      for (int rank = 0; rank < kRanks; ++rank) {
        INFO("rank " << rank);
        CHECK(free.scenarios[0].ranks[rank].end * 1e9 == Approx(done(op, rank) + 10));
      }
    }
  }
}
