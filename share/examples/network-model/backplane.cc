// A user-defined network model, and a program that replays with it: all transfers share the
// backplane of one switch equally. Build it with the CMakeLists.txt in this directory; usage:
// backplane TRACE BANDWIDTH
//
// As a part of Rubato, the model would be models/topologies/backplane.cc, listed in
// models/topologies/CMakeLists.txt; `--on infiniband-hdr:contention.backplane=10GB/s` would select
// it.

#include <algorithm>
#include <cstdio>
#include <exception>

#include "models/network/network_model.h"
#include "replay/rubato.h"

namespace {

/// Each of k flows gets 1/k of the bandwidth, but none is faster than alone.
class Backplane : public rubato::Network {
 public:
  explicit Backplane(double bytes_per_tick) : bytes_per_tick_(bytes_per_tick) {}

  void start(uint32_t number, const rubato::Flow& flow, double now) override {
    advance(now);
    if (number >= states_.size()) states_.resize(number + 1);
    states_[number] = {flow, now + (flow.length - flow.data), flow.data, states_[number].version};
    live_.push_back(number);
    plan(now);
  }

  bool over(const Timer& timer) override {
    if (timer.version != states_[timer.flow].version) return false;
    advance(timer.time);
    std::erase(live_, timer.flow);
    ++states_[timer.flow].version;
    plan(timer.time);
    return true;
  }

  /// True if the flow has transferred less than it would have alone.
  bool held_up(uint32_t number, double now) const override {
    const State& state = states_[number];
    if (now <= state.begin) return false;
    constexpr double kRounding = 1e-3;  // ticks
    const double since = std::max(last_, state.begin);
    const double moved = state.flow.data - state.left + (now - since) / pace(state.flow);
    return moved < (now - state.begin) / pace(state.flow, 1) - kRounding;
  }

 private:
  struct State {
    rubato::Flow flow;
    double begin = 0;  ///< of the data: latency comes first
    double left = 0;   ///< of the data, in ticks alone
    uint32_t version = 0;
  };

  /// The slowdown of a flow by the backplane, with `live` concurrent flows.
  double pace(const rubato::Flow& flow, size_t live) const {
    const double share = bytes_per_tick_ / static_cast<double>(live);
    return flow.data > 0 ? std::max(1.0, flow.bytes / flow.data / share) : 1;
  }
  double pace(const rubato::Flow& flow) const { return pace(flow, live_.size()); }
  /// Advances all flows to `now`.
  void advance(double now) {
    for (const uint32_t number : live_) {
      State& state = states_[number];
      const double since = std::max(last_, state.begin);
      if (now > since) state.left = std::max(0.0, state.left - (now - since) / pace(state.flow));
    }
    last_ = now;
  }
  /// Sets a timer for the arrival of each flow; earlier timers become void.
  void plan(double now) {
    for (const uint32_t number : live_) {
      State& state = states_[number];
      ask(std::max(now, state.begin) + state.left * pace(state.flow), number, ++state.version);
    }
  }

  double bytes_per_tick_;
  double last_ = 0;
  std::vector<State> states_;  ///< by number
  std::vector<uint32_t> live_;
};

const rubato::NetworkModel kBackplane = {
    "backplane",
    "all transfers share the bandwidth of one switch equally",
    {{"backplane", rubato::NetworkKey::Kind::kBandwidth, "bandwidth of the switch", 1e10}},
    [](const rubato::ContentionSetting& setting, const rubato::Placement&,
       double ticks_per_second) -> std::unique_ptr<rubato::Network> {
      return std::make_unique<Backplane>(*setting.number("backplane") / ticks_per_second);
    }};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: backplane TRACE BANDWIDTH\n"), 2;
  rubato::add_network_model(kBackplane);
  const std::string machine = "bandela:latency=1us,bandwidth=1GB/s";
  auto alone = rubato::parse_scenario(machine);
  auto shared = rubato::parse_scenario(machine + ",contention.backplane=" + argv[2]);
  for (auto* scenario : {&alone, &shared})  // a port is busy for as long as its data flows
    for (auto& level : scenario->platform.levels)
      if (level) level->gap.reset();
  const auto trace = rubato::open_trace(argv[1]);
  for (const auto& result : rubato::run_replay(*trace, {alone, shared}, {}).scenarios)
    std::printf("%s %.3f us\n", result.name.c_str(), result.elapsed * 1e6);
} catch (const std::exception& error) {
  std::fprintf(stderr, "backplane: %s\n", error.what());
  return 1;
}
