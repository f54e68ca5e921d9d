// Flows on the links of a topology. One that starts waits for its latency, then joins its *stream*:
// the flows of one pair of nodes that can go equally fast. A stream is one user of FairShare. How
// far it is, in bytes that each of its flows has moved, grows at the rate of the moment:
//
//   moved   │            ╱──── rate 1/2: another stream shares a link
//           │        ╱╱╱
//           │    ╱╱╱                       a flow that joined at `from` ends
//     from ─┤ ╱╱                           where moved = from + its bytes
//           └──────────────── time
//
// Starts and ends of one moment are solved together, when time goes on (settle).

// With `sharing = "rtt"` flows of a stream have a priority: in a full link rates are as those.
// FairShare knows nothing of it: it divides levels, rates by priority, and of a level a link takes
// the priority.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "models/network/link_counter.h"
#include "models/network/time_heap.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

class SharedLinks : public Network {
 public:
  SharedLinks(std::shared_ptr<const Topology> topology, const ContentionSetting& setting,
              double ticks_per_second)
      : topology_(std::move(topology)),
        ticks_per_second_(ticks_per_second),
        loads_(constant_loads(*topology_, setting)),
        shares_(capacities(*topology_, loads_, ticks_per_second)) {
    if (setting.word("sharing") == "rtt") weight_s_ = *setting.number("weight_s");
  }

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;
  void settle(double now) override;
  bool held_up(uint32_t number, double now) const override;
  void count_loads() override {
    if (!counter_) counter_.emplace(*topology_, ticks_per_second_, loads_);
  }
  std::optional<LinkLoads> loads(double now) override;

 private:
  enum Version : uint32_t { kArrives, kLooks };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kMoment = 1e-6;  ///< ticks that are one moment: what rounding makes

  struct State {
    Flow flow;
    double begin = 0;  ///< it joined its stream
    double end = 0;    ///< `moved` of the stream then
    uint32_t stream = 0;
    bool waits = true;  ///< for its latency
  };
  /// Nodes, bytes per tick of a flow alone, priority.
  using Key = std::tuple<int, int, double, double>;
  struct Stream {
    Key key;
    double priority = 1;
    bool is_capped = false;  ///< slowed down by a link that it shares with nobody
    LinkCounter::Stream counted;
    uint32_t user = 0;
    double moved = 0;
    double since = 0;               ///< when it was
    double rate = 0;                ///< since then
    double slowed_until = -kNever;  ///< kNever: links slow it down now
    bool touched = false;
    std::vector<uint32_t> flows;  ///< a heap, the first to end in front
  };

  /// What constant loads leave of links, bytes per tick.
  static std::vector<double> capacities(const Topology& topology, const std::vector<double>& loads,
                                        double ticks_per_second);
  /// All that happens at `now`.
  void run(double now);
  void join(uint32_t number, double now);
  /// As in SimGrid's LV08: one by the latency and what S bytes take on each link of route_. Without
  /// latency 1.
  double priority(const Flow& flow);
  /// Ends those flows of a stream that are through.
  void end_flows(uint32_t stream, double now);
  void close(uint32_t stream);
  void touch(uint32_t stream);
  void advance(Stream& stream, double now);
  void change_rate(Stream& stream, double now);
  /// When the next flow of a stream, which is advanced to `now`, ends.
  double next_end(const Stream& stream, double now) const;
  static bool was_slowed(const State& state, const Stream& stream) {
    return stream.slowed_until > state.begin;
  }
  auto ends_later() const {
    return [this](uint32_t a, uint32_t b) {
      return std::tie(states_[a].end, a) > std::tie(states_[b].end, b);
    };
  }

  std::shared_ptr<const Topology> topology_;
  double ticks_per_second_;
  std::optional<double> weight_s_;  ///< bytes; none: flows are equal
  std::optional<LinkCounter> counter_;
  std::vector<double> loads_;  ///< by kind of link
  FairShare shares_;
  std::vector<State> states_;  ///< by number of the flow
  std::vector<Stream> streams_;
  std::vector<uint32_t> free_streams_;
  std::vector<uint32_t> stream_of_user_;
  std::map<Key, uint32_t> stream_of_;
  TimeHeap joins_;                 ///< of flows
  TimeHeap ends_;                  ///< of streams
  std::vector<uint32_t> touched_;  ///< streams with other flows, or at another rate, than before
  bool unsettled_ = false;
  double looks_ = kNever;  ///< a timer is on its way for then
  std::vector<FairShare::Use> route_;
};

std::vector<double> SharedLinks::capacities(const Topology& topology,
                                            const std::vector<double>& loads,
                                            double ticks_per_second) {
  std::vector<double> capacities;
  for (const Topology::Link& link : topology.links())
    capacities.push_back(link.bandwidth * (1 - loads[link.kind]) / ticks_per_second);
  return capacities;
}

void SharedLinks::start(uint32_t number, const Flow& flow, double now) {
  if (number >= states_.size()) states_.resize(number + 1);
  states_[number] = {.flow = flow};
  if (!(flow.data > 0) || !(flow.bytes > 0) || flow.from == flow.to)
    return ask(flow.alone, number, kArrives);
  joins_.set(number, now + std::max(0.0, flow.length - flow.data));
  unsettled_ = true;
}

bool SharedLinks::over(const Timer& timer) {
  if (timer.version == kArrives) return true;
  if (looks_ <= timer.time) looks_ = kNever;
  unsettled_ = true;
  return false;
}

void SharedLinks::settle(double now) {
  if (!unsettled_) return;
  unsettled_ = false;
  run(now);
  double next = kNever;
  uint32_t flow = 0;
  if (!joins_.empty()) {
    next = joins_.time();
    flow = joins_.item();
  }
  if (!ends_.empty() && ends_.time() < next) {
    next = ends_.time();
    flow = streams_[ends_.item()].flows.front();
  }
  if (next >= looks_) return;
  looks_ = next;
  ask(next, flow, kLooks);
}

void SharedLinks::run(double now) {
  while (!joins_.empty() && joins_.time() <= now + kMoment) {
    const uint32_t number = joins_.item();
    joins_.erase(number);
    join(number, now);
  }
  while (!ends_.empty() && ends_.time() <= now + kMoment) {
    const uint32_t stream = ends_.item();
    ends_.erase(stream);
    end_flows(stream, now);
  }
  for (const uint32_t number : touched_) {
    Stream& stream = streams_[number];
    if (stream.flows.empty()) {
      close(number);
    } else {
      shares_.change_flows(stream.user, static_cast<int>(stream.flows.size()));
    }
  }
  for (const uint32_t user : shares_.solve()) {
    const uint32_t number = stream_of_user_[user];
    change_rate(streams_[number], now);
    touch(number);
  }
  for (const uint32_t number : touched_) {
    Stream& stream = streams_[number];
    stream.touched = false;
    if (!stream.flows.empty()) ends_.set(number, next_end(stream, now));
  }
  touched_.clear();
}

void SharedLinks::join(uint32_t number, double now) {
  State& state = states_[number];
  const double alone = state.flow.bytes / state.flow.data;
  const double most = topology_->limit(state.flow.from, state.flow.to) / ticks_per_second_;
  const double limit = std::min(alone, most);
  const double weight = weight_s_ ? priority(state.flow) : 1;
  const auto [entry, is_new] =
      stream_of_.try_emplace({state.flow.from, state.flow.to, limit, weight}, 0);
  if (is_new) {
    if (free_streams_.empty()) {
      entry->second = static_cast<uint32_t>(streams_.size());
      streams_.emplace_back();
    } else {
      entry->second = free_streams_.back();
      free_streams_.pop_back();
    }
    Stream& stream = streams_[entry->second];
    stream.key = entry->first;
    stream.moved = stream.rate = 0;
    stream.since = now;
    stream.slowed_until = -kNever;
    stream.priority = weight;
    stream.is_capped = most < alone;
    topology_->route(state.flow.from, state.flow.to, route_);
    if (counter_) counter_->begin(stream.counted, route_, now);
    if (weight != 1) {
      for (FairShare::Use& use : route_) use.weight *= weight;
    }
    stream.user = shares_.add(route_, limit / weight);
    if (stream.user >= stream_of_user_.size()) stream_of_user_.resize(stream.user + 1);
    stream_of_user_[stream.user] = entry->second;
  }
  Stream& stream = streams_[entry->second];
  advance(stream, now);
  state.waits = false;
  state.stream = entry->second;
  state.begin = now;
  state.end = stream.moved + state.flow.bytes;
  stream.flows.push_back(number);
  std::push_heap(stream.flows.begin(), stream.flows.end(), ends_later());
  touch(entry->second);
}

double SharedLinks::priority(const Flow& flow) {
  const double latency = std::max(0.0, flow.length - flow.data) / ticks_per_second_;
  if (latency == 0) return 1;
  topology_->route(flow.from, flow.to, route_);
  double sum = latency;
  for (const FairShare::Use& use : route_)
    sum += use.weight * *weight_s_ / topology_->links()[use.link].bandwidth;
  return 1 / sum;
}

void SharedLinks::end_flows(uint32_t number, double now) {
  Stream& stream = streams_[number];
  advance(stream, now);
  do {  // the first one ends now, whatever rounding says
    const uint32_t flow = stream.flows.front();
    std::pop_heap(stream.flows.begin(), stream.flows.end(), ends_later());
    stream.flows.pop_back();
    const State& state = states_[flow];
    if (counter_) {
      counter_->end_flow(stream.counted, state.flow.bytes,
                         was_slowed(state, stream) ? now - state.flow.alone : 0);
    }
    ask(was_slowed(state, stream) ? now : state.flow.alone, flow, kArrives);
  } while (!stream.flows.empty() && next_end(stream, now) <= now + kMoment);
  touch(number);
}

void SharedLinks::close(uint32_t number) {
  Stream& stream = streams_[number];
  if (counter_) counter_->end(stream.counted);
  shares_.remove(stream.user);
  stream_of_.erase(stream.key);
  free_streams_.push_back(number);
}

void SharedLinks::touch(uint32_t number) {
  if (streams_[number].touched) return;
  streams_[number].touched = true;
  touched_.push_back(number);
}

void SharedLinks::advance(Stream& stream, double now) {
  const double moved = stream.rate * (now - stream.since);
  if (counter_ && moved > 0)
    counter_->move(stream.counted, moved * static_cast<double>(stream.flows.size()), stream.since,
                   now);
  stream.moved += moved;
  stream.since = now;
}

void SharedLinks::change_rate(Stream& stream, double now) {
  advance(stream, now);
  stream.rate = shares_.rate(stream.user) * stream.priority;
  if (shares_.is_slowed(stream.user) || stream.is_capped) {
    stream.slowed_until = kNever;
  } else if (stream.slowed_until == kNever) {
    stream.slowed_until = now;
  }
}

double SharedLinks::next_end(const Stream& stream, double now) const {
  const State& first = states_[stream.flows.front()];
  if (!was_slowed(first, stream)) return first.flow.alone;
  return now + std::max(0.0, first.end - stream.moved) / stream.rate;
}

bool SharedLinks::held_up(uint32_t number, double) const {
  const State& state = states_[number];
  return !state.waits && was_slowed(state, streams_[state.stream]);
}

std::optional<LinkLoads> SharedLinks::loads(double now) {
  if (!counter_) return std::nullopt;
  for (Stream& stream : streams_) {
    if (!stream.flows.empty()) advance(stream, now);
  }
  return counter_->loads();
}

}  // namespace

std::unique_ptr<Network> share_links(std::shared_ptr<const Topology> topology,
                                     const ContentionSetting& setting, double ticks_per_second) {
  return std::make_unique<SharedLinks>(with_node_limits(std::move(topology), setting), setting,
                                       ticks_per_second);
}

}  // namespace rubato
