// Buses (Dimemas): a flow needs a link out of its node, a link into the other node and a bus of the
// network, all at once, and occupies them for its `data`.
//
// Flows are served first come, first served; simultaneous ones by rank. No flow overtakes an
// earlier one that needs the same link, so every flow gets its links. A waiting flow reserves no
// bus: a bus goes to the first flow that has its links.

#include <set>
#include <tuple>

#include "models/network/network_model.h"

namespace rubato {
namespace {

class Buses : public Network {
 public:
  Buses(const ContentionSetting& setting, int nodes)
      : out_(nodes, Links(setting.number("out"))),
        in_(nodes, Links(setting.number("in"))),
        network_(setting.number("network")) {}

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;
  bool held_up(uint32_t number, double) const override { return flows_[number].waits; }

 private:
  enum Version : uint32_t { kReleases, kArrives };

  struct Links {
    explicit Links(const std::optional<double>& limit) : most(limit) {}
    std::optional<double> most;
    int used = 0;
    int kept = 0;  ///< reserved for waiting flows, in the round of that number
    uint64_t round = 0;

    bool free(uint64_t current) const {
      return !most || used + (round == current ? kept : 0) < *most;
    }
    void keep(uint64_t current) {
      if (round != current) kept = 0;
      round = current;
      ++kept;
    }
  };

  struct State : Flow {
    bool waits = true;  ///< or has waited
  };

  /// Starts the flows that can start.
  void serve(double now);

  std::vector<Links> out_, in_;
  Links network_;
  std::vector<State> flows_;                                       ///< by number
  std::set<std::tuple<double, int, uint64_t, uint32_t>> waiting_;  ///< since, rank, which, number
  uint64_t came_ = 0;
  uint64_t round_ = 0;
};

void Buses::start(uint32_t number, const Flow& flow, double now) {
  if (number >= flows_.size()) flows_.resize(number + 1);
  flows_[number] = {flow};
  waiting_.insert({now, flow.rank, ++came_, number});
  serve(now);
}

bool Buses::over(const Timer& timer) {
  if (timer.version == kArrives) return true;
  const Flow& flow = flows_[timer.flow];
  --out_[flow.from].used;
  --in_[flow.to].used;
  --network_.used;
  serve(timer.time);
  return false;
}

void Buses::serve(double now) {
  ++round_;
  for (auto at = waiting_.begin(); at != waiting_.end() && network_.free(round_);) {
    const uint32_t number = std::get<uint32_t>(*at);
    State& flow = flows_[number];
    Links& out = out_[flow.from];
    Links& in = in_[flow.to];
    if (!out.free(round_) || !in.free(round_)) {
      out.keep(round_);
      in.keep(round_);
      ++at;
      continue;
    }
    ++out.used;
    ++in.used;
    ++network_.used;
    ask(now + flow.data, number, kReleases);
    flow.waits = now > std::get<double>(*at);
    ask(flow.waits ? now + flow.length : flow.alone, number, kArrives);
    at = waiting_.erase(at);
  }
}

std::unique_ptr<Network> make_buses(const ContentionSetting& setting, const Placement& placement,
                                    double) {
  return std::make_unique<Buses>(setting, placement.network_nodes());
}

constexpr auto kCount = NetworkKey::Kind::kCount;

}  // namespace

extern const NetworkModel buses_model;
const NetworkModel buses_model = {
    "buses",
    "a limited number of concurrent messages, the others wait (Dimemas)",
    {{"out", kCount, "concurrent messages out of a node", {}},
     {"in", kCount, "concurrent messages into a node", {}},
     {"network", kCount, "concurrent messages in the whole network", {}}},
    make_buses,
};

}  // namespace rubato
