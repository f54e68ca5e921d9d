// Degradation (MPInside paper, section 4.3): T(n) = L + n / B(n) * LR * DR.
//
// LR is the number of live requests on the node: the flows from it or to it, this one included; the
// larger count of the flow's two nodes. LR changes while a flow is under way, and each value counts
// for as long as it holds: in a time dt the data advances by dt / (LR * DR). The latency comes
// first and does not depend on the load, but the flow is live during it.

#include <algorithm>
#include <tuple>

#include "models/network/network_model.h"

namespace rubato {
namespace {

class Degradation : public Network {
 public:
  Degradation(double ratio, int nodes) : ratio_(ratio), live_(nodes) {}

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;
  bool held_up(uint32_t number, double now) const override;

 private:
  struct State {
    Flow flow;
    double begin = 0;     ///< of its data
    bool moving = false;  ///< the latency is over
    double left = 0;      ///< of the data, in ticks alone
    double since = 0;     ///< time at which `left` was true
    double pace = 0;      ///< LR * DR
    uint32_t version = 0;
  };

  double pace(const Flow& flow) const;
  /// The number of live requests on a node of `flow` has changed.
  void change_pace(const Flow& flow, double now);
  void change_pace(int node, double now);
  /// Asks for a timer at the next arrival.
  void plan();

  double ratio_;
  std::vector<State> states_;                ///< by number of the flow
  std::vector<std::vector<uint32_t>> live_;  ///< by node: its flows
  std::vector<uint32_t> moving_;             ///< those whose latency is over
  Timer planned_ = {0, 0, 0};                ///< version 0: none yet
};

void Degradation::start(uint32_t number, const Flow& flow, double now) {
  if (number >= states_.size()) states_.resize(number + 1);
  State& state = states_[number];
  const double latency = flow.length - flow.data;
  state = {flow, now + latency, false, flow.data, now, 0, state.version + 1};
  live_[flow.from].push_back(number);
  if (flow.to != flow.from) live_[flow.to].push_back(number);
  ask(state.begin, number, state.version);
  change_pace(flow, now);
  plan();
}

bool Degradation::over(const Timer& timer) {
  State& state = states_[timer.flow];
  if (timer.version != state.version) return false;
  if (!state.moving) {
    state.moving = true;
    state.since = timer.time;
    state.pace = pace(state.flow);
    moving_.push_back(timer.flow);
    plan();
    return false;
  }
  ++state.version;
  const Flow flow = state.flow;
  std::erase(live_[flow.from], timer.flow);
  std::erase(live_[flow.to], timer.flow);
  std::erase(moving_, timer.flow);
  change_pace(flow, timer.time);
  plan();
  return true;
}

bool Degradation::held_up(uint32_t number, double now) const {
  const State& state = states_[number];
  if (!state.moving) return false;
  constexpr double kTickRounding = 1e-3;  // ticks
  const double moved = state.flow.data - state.left + (now - state.since) / state.pace;
  return moved < (now - state.begin) / ratio_ - kTickRounding;  // alone it is one live request
}

void Degradation::plan() {
  // Only the next arrival has a timer: timers for all flows would have to be renewed at each
  // change.
  const auto order = [this](uint32_t number) {
    const State& state = states_[number];
    return std::tuple(state.since + state.left * state.pace, state.flow.rank, number);
  };
  const auto next = std::min_element(moving_.begin(), moving_.end(),
                                     [&](uint32_t a, uint32_t b) { return order(a) < order(b); });
  if (next == moving_.end()) return;
  const double end = std::get<double>(order(*next));
  if (*next == planned_.flow && end == planned_.time &&
      planned_.version == states_[*next].version) {
    return;
  }
  // The previous timer is void.
  if (planned_.version != 0 && states_[planned_.flow].version == planned_.version)
    ++states_[planned_.flow].version;
  planned_ = {end, *next, ++states_[*next].version};
  ask(planned_.time, planned_.flow, planned_.version);
}

double Degradation::pace(const Flow& flow) const {
  return static_cast<double>(std::max(live_[flow.from].size(), live_[flow.to].size())) * ratio_;
}

void Degradation::change_pace(const Flow& flow, double now) {
  change_pace(flow.from, now);
  if (flow.to != flow.from) change_pace(flow.to, now);
}

void Degradation::change_pace(int node, double now) {
  for (const uint32_t number : live_[node]) {
    State& state = states_[number];
    const double changed = pace(state.flow);
    if (!state.moving || changed == state.pace) continue;
    state.left = std::max(0.0, state.left - (now - state.since) / state.pace);
    state.since = now;
    state.pace = changed;
  }
}

std::unique_ptr<Network> make_degradation(const ContentionSetting& setting,
                                          const Placement& placement, double) {
  return std::make_unique<Degradation>(*setting.number("degradation_ratio"),
                                       placement.network_nodes());
}

}  // namespace

extern const NetworkModel degradation_model;
const NetworkModel degradation_model = {
    "degradation",
    "bandwidth falls with the number of live requests on a node (MPInside)",
    {{"degradation_ratio", NetworkKey::Kind::kRatio, "DR, by which each live request counts", 1.0,
      "dr"}},
    make_degradation,
};

}  // namespace rubato
