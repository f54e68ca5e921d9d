// Flows on the links of a topology. A flow that starts waits for its latency, then joins its
// *stream*: the flows of one pair of nodes with the same rate alone. A stream is one user of
// FairShare. Its progress, the bytes that each of its flows has moved, grows at the present rate:
//
//   moved   │            ╱──── rate 1/2: another stream shares a link
//           │        ╱╱╱
//           │    ╱╱╱                       a flow that joined at `from` ends
//     from ─┤ ╱╱                           where moved = from + its bytes
//           └──────────────── time
//
// Of the flows between the same two ranks, only the first that started moves, as on a connection;
// with `pairs = "at-once"` all do, as in SimGrid. A flow without bytes arrives when its turn comes.
//
// Starts and ends at the same time are solved together, before time advances (settle).
//
// If the ports of ranks are slower than the links of nodes, they are links, too: of capacity 1, of
// which a flow takes the share of its time that it keeps the port busy.

// With `sharing = "rtt"` flows of a stream have a priority: rates in a full link are proportional
// to it. FairShare does not deal with priorities: it shares levels, rate over priority, and a
// stream takes its priority of a link per level.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "models/network/link_counter.h"
#include "models/network/lone_flows.h"
#include "models/network/time_heap.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

/// Flows with equal keys belong to one stream.
struct Key {
  int from = 0, to = 0;  ///< nodes
  double alone = 0;      ///< rate of one, bytes per tick
  double priority = 1;
  double port = 0;                  ///< ticks of its ranks' ports per byte; 0: ports are not links
  int rank = -1, destination = -1;  ///< ranks, if their ports are links
  bool operator==(const Key&) const = default;
};
struct Moving {
  double begin = 0;  ///< it joined its stream
  double end = 0;    ///< `moved` of the stream then
  uint32_t stream = 0;
};
constexpr uint64_t kNoPair = UINT64_MAX;
constexpr uint32_t kNoFlow = UINT32_MAX;
struct State {
  double bytes = 0;
  double alone = 0;                 ///< its arrival if no other flow slows it down
  std::variant<Key, Moving> phase;  ///< it waits for its latency or for its pair, or moves
  uint64_t pair = kNoPair;          ///< its ranks, if only one flow of a pair moves at a time
  uint32_t behind = kNoFlow;        ///< the next flow of its pair
  bool waited = false;              ///< for another flow of its pair
};
struct Queue {  ///< the flows of a pair
  uint32_t first = kNoFlow, last = kNoFlow;
};

class SharedLinks : public Network {
 public:
  SharedLinks(std::shared_ptr<const Topology> topology, const ContentionSetting& setting,
              double ticks_per_second)
      : topology_(std::move(topology)),
        ticks_per_second_(ticks_per_second),
        loads_(constant_loads(*topology_, setting)),
        shares_(capacities(*topology_, loads_, ticks_per_second)) {
    if (setting.word("sharing") == "rtt") weight_s_ = *setting.number("weight_s");
    in_order_ = setting.word("pairs") == "in-order";
  }

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;
  void settle(double now) override;
  bool held_up(uint32_t number, double now) const override;
  void count_loads() override {
    if (!counter_) counter_.emplace(*topology_, ticks_per_second_, loads_);
  }
  std::optional<LinkLoads> loads(double now) override;
  std::unique_ptr<Network> with_lone_flows() const override {
    return std::make_unique<LoneFlows>(topology_, capacities(*topology_, loads_, ticks_per_second_),
                                       ticks_per_second_);
  }

 private:
  enum Version : uint32_t { kArrives, kLooks };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kMoment = 1e-6;  ///< ticks: times closer than this differ by rounding

  /// Its number is that of its user in FairShare.
  struct Stream {
    Key key;
    double moved = 0;
    double since = 0;               ///< when it was
    double rate = 0;                ///< since then
    double slowed_until = -kNever;  ///< kNever: links slow it down now
    LinkCounter::Stream counted;
    bool is_capped = false;  ///< slowed down by a link that it does not share
    bool touched = false;
    boost::container::small_vector<uint32_t, 2> flows;  ///< a heap, the first to end in front
  };
  /// Finds streams by their keys.
  struct ByKey {
    using is_transparent = void;
    const std::vector<Stream>* streams;
    const Key& of(uint32_t stream) const { return (*streams)[stream].key; }
    static const Key& of(const Key& key) { return key; }
    size_t operator()(const auto& stream) const noexcept {
      const Key& key = of(stream);
      size_t hash = 0;
      boost::hash_combine(hash, key.from);
      boost::hash_combine(hash, key.to);
      boost::hash_combine(hash, key.alone);
      boost::hash_combine(hash, key.priority);
      boost::hash_combine(hash, key.port);
      boost::hash_combine(hash, key.rank);
      boost::hash_combine(hash, key.destination);
      return hash;
    }
    bool operator()(const auto& a, const auto& b) const { return of(a) == of(b); }
  };

  /// The capacities of links that constant loads leave, bytes per tick.
  static std::vector<double> capacities(const Topology& topology, const std::vector<double>& loads,
                                        double ticks_per_second);
  /// All that happens at `now`.
  void run(double now);
  /// The link that represents a port of a rank.
  uint32_t port(int rank, bool is_in);
  /// The latency of a flow is over.
  void be_ready(uint32_t number, double now);
  void join(uint32_t number, double now);
  /// Flows whose pair has just become free join their streams.
  void join_next(double now);
  /// A flow has moved, so the next one of its pair may.
  void leave_pair(const State& state);
  uint32_t open_stream(const Key& key, double now);
  /// As in SimGrid's LV08: 1 / (latency + time of S bytes on each link of route_). 1 without
  /// latency.
  double priority(const Flow& flow);
  /// Ends the flows of a stream that have moved all their bytes.
  void end_flows(uint32_t stream, double now);
  void close(uint32_t stream);
  void touch(uint32_t stream);
  void advance(Stream& stream, double now);
  void change_rate(uint32_t stream, double now);
  /// When the next flow of a stream, which is advanced to `now`, ends.
  double next_end(const Stream& stream, double now) const;
  const Moving& moving(uint32_t flow) const { return std::get<Moving>(states_[flow].phase); }
  /// True if links, or earlier flows of its pair, slowed the flow down.
  bool was_slowed(uint32_t flow) const {
    const Moving& its = moving(flow);
    return states_[flow].waited || streams_[its.stream].slowed_until > its.begin;
  }
  auto ends_later() const {
    return [this](uint32_t a, uint32_t b) {
      return std::tie(moving(a).end, a) > std::tie(moving(b).end, b);
    };
  }

  std::shared_ptr<const Topology> topology_;
  double ticks_per_second_;
  std::optional<double> weight_s_;  ///< bytes; none: flows are equal
  bool in_order_ = true;            ///< the flows of two ranks
  std::optional<LinkCounter> counter_;
  std::vector<double> loads_;  ///< by kind of link
  FairShare shares_;
  std::vector<uint32_t> ports_;  ///< by rank, out and in; of shares_, behind the topology's links
  std::vector<State> states_;    ///< by number of the flow
  std::vector<Stream> streams_;
  std::unordered_set<uint32_t, ByKey, ByKey> known_{0, ByKey{&streams_}, ByKey{&streams_}};
  TimeHeap joins_;                             ///< of flows
  std::unordered_map<uint64_t, Queue> pairs_;  ///< whose first flow may move
  std::vector<uint32_t> next_;                 ///< flows whose pair has just become free
  TimeHeap ends_;                              ///< of streams
  std::vector<uint32_t> touched_;  ///< streams with other flows, or at another rate, than before
  bool unsettled_ = false;
  double looks_ = kNever;  ///< time of the pending timer
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
  // An empty message keeps ports busy, too.
  const double bytes = flow.port > 0 ? std::max(flow.bytes, 1.0) : flow.bytes;
  State& state = states_[number] = {bytes, flow.alone, {}};
  const auto pair =
      static_cast<uint64_t>(flow.rank) << 32 | static_cast<uint32_t>(flow.destination);
  const bool moves = flow.data > 0 && bytes > 0;
  if (flow.from == flow.to || (!moves && !(in_order_ && pairs_.contains(pair))))
    return ask(flow.alone, number, kArrives);
  if (!moves) state.bytes = 0;
  Key key{flow.from, flow.to};
  if (moves) {
    key.alone = bytes / flow.data;
    if (weight_s_) key.priority = priority(flow);
  }
  if (moves && flow.port > 0) {
    key.port = flow.port / bytes;
    key.rank = flow.rank;
    key.destination = flow.destination;
  }
  state.phase = key;
  if (in_order_) {
    state.pair = pair;
    Queue& queue = pairs_[pair];
    (queue.first == kNoFlow ? queue.first : states_[queue.last].behind) = number;
    queue.last = number;
  }
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
    be_ready(number, now);
    join_next(now);
  }
  while (!ends_.empty() && ends_.time() <= now + kMoment) {
    const uint32_t stream = ends_.item();
    ends_.erase(stream);
    end_flows(stream, now);
    join_next(now);
  }
  for (const uint32_t number : touched_) {
    const Stream& stream = streams_[number];
    if (stream.flows.empty()) {
      close(number);
    } else {
      shares_.change_flows(number, static_cast<int>(stream.flows.size()));
    }
  }
  for (const uint32_t number : shares_.solve()) {
    change_rate(number, now);
    touch(number);
  }
  for (const uint32_t number : touched_) {
    Stream& stream = streams_[number];
    stream.touched = false;
    if (!stream.flows.empty()) ends_.set(number, next_end(stream, now));
  }
  touched_.clear();
}

uint32_t SharedLinks::port(int rank, bool is_in) {
  constexpr uint32_t kNone = UINT32_MAX;
  const size_t at = 2 * static_cast<size_t>(rank) + (is_in ? 1 : 0);
  if (at >= ports_.size()) ports_.resize(at + 1, kNone);
  if (ports_[at] == kNone) ports_[at] = shares_.add_link(1);
  return ports_[at];
}

void SharedLinks::be_ready(uint32_t number, double now) {
  State& state = states_[number];
  if (state.pair != kNoPair) {
    state.waited = pairs_[state.pair].first != number;
    if (state.waited) return;
  }
  join(number, now);
}

void SharedLinks::join_next(double now) {
  while (!next_.empty()) {
    for (const uint32_t number : std::exchange(next_, {})) join(number, now);
  }
}

void SharedLinks::join(uint32_t number, double now) {
  State& state = states_[number];
  if (state.bytes == 0) {
    leave_pair(state);
    return ask(state.waited ? now : state.alone, number, kArrives);
  }
  const Key key = std::get<Key>(state.phase);
  const auto known = known_.find(key);
  const uint32_t of = known != known_.end() ? *known : open_stream(key, now);
  Stream& stream = streams_[of];
  advance(stream, now);
  state.phase = Moving{now, stream.moved + state.bytes, of};
  stream.flows.push_back(number);
  std::push_heap(stream.flows.begin(), stream.flows.end(), ends_later());
  touch(of);
}

uint32_t SharedLinks::open_stream(const Key& key, double now) {
  const double most = topology_->limit(key.from, key.to) / ticks_per_second_;
  LinkCounter::Stream counted;
  topology_->route(key.from, key.to, route_);
  if (counter_) counter_->begin(counted, route_, now);
  if (key.port > 0) {
    route_.push_back({port(key.rank, false), key.port});
    route_.push_back({port(key.destination, true), key.port});
  }
  if (key.priority != 1) {
    for (FairShare::Use& use : route_) use.weight *= key.priority;
  }
  const uint32_t number = shares_.add(route_, std::min(key.alone, most) / key.priority);
  if (number >= streams_.size()) streams_.resize(number + 1);
  Stream& stream = streams_[number];
  stream.key = key;
  stream.moved = stream.rate = 0;
  stream.since = now;
  stream.slowed_until = -kNever;
  stream.counted = counted;
  stream.is_capped = most < key.alone;
  known_.insert(number);
  return number;
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
  do {  // the first one ends now, regardless of rounding
    const uint32_t flow = stream.flows.front();
    std::pop_heap(stream.flows.begin(), stream.flows.end(), ends_later());
    stream.flows.pop_back();
    const State& state = states_[flow];
    const bool slowed = was_slowed(flow);
    leave_pair(state);
    if (counter_) counter_->end_flow(stream.counted, state.bytes, slowed ? now - state.alone : 0);
    ask(slowed ? now : state.alone, flow, kArrives);
  } while (!stream.flows.empty() && next_end(stream, now) <= now + kMoment);
  touch(number);
}

void SharedLinks::leave_pair(const State& state) {
  if (state.pair == kNoPair) return;
  const auto pair = pairs_.find(state.pair);
  const uint32_t next = pair->second.first = state.behind;
  if (next == kNoFlow) {
    pairs_.erase(pair);
  } else if (states_[next].waited) {
    next_.push_back(next);
  }
}

void SharedLinks::close(uint32_t number) {
  const Stream& stream = streams_[number];
  if (counter_) {
    shares_.for_each_use(number, [&](const FairShare::Use& use) {
      if (use.link >= topology_->links().size()) return;
      counter_->carried(stream.counted, use.link, use.weight / stream.key.priority);
    });
  }
  known_.erase(known_.find(stream.key));
  shares_.remove(number);
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

void SharedLinks::change_rate(uint32_t number, double now) {
  Stream& stream = streams_[number];
  advance(stream, now);
  stream.rate = shares_.rate(number) * stream.key.priority;
  if (shares_.is_slowed(number) || stream.is_capped) {
    stream.slowed_until = kNever;
  } else if (stream.slowed_until == kNever) {
    stream.slowed_until = now;
  }
}

double SharedLinks::next_end(const Stream& stream, double now) const {
  const uint32_t first = stream.flows.front();
  if (!was_slowed(first)) return states_[first].alone;
  return now + std::max(0.0, moving(first).end - stream.moved) / stream.rate;
}

bool SharedLinks::held_up(uint32_t number, double) const {
  const State& state = states_[number];
  return state.waited || (std::holds_alternative<Moving>(state.phase) && was_slowed(number));
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
