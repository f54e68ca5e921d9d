#include "replay/network/contention.h"

#include <algorithm>

namespace rubato {

// --- Degradation ---

void Degradation::start(uint32_t number, const Flow& flow, double now) {
  if (number >= states_.size()) states_.resize(number + 1);
  State& state = states_[number];
  state = {flow, false, flow.data, now, 0, state.version + 1};
  live_[flow.from].push_back(number);
  if (flow.to != flow.from) live_[flow.to].push_back(number);
  ask(now + (flow.length - flow.data), number, state.version);
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

void Degradation::plan() {
  // The one that arrives next. A timer for each would be a new one for each at every change.
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
  // Whatever was planned before is void.
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

// --- Buses ---

void Buses::start(uint32_t number, const Flow& flow, double now) {
  if (number >= flows_.size()) flows_.resize(number + 1);
  flows_[number] = flow;
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
    const Flow& flow = flows_[number];
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
    const bool waited = now > std::get<double>(*at);
    ask(waited ? now + flow.length : flow.alone, number, kArrives);
    at = waiting_.erase(at);
  }
}

}  // namespace rubato
