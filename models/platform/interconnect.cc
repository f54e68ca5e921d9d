#include "models/platform/interconnect.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace rubato {
namespace {

/// The part of T that grows with the size: what a message occupies a port for when no gap was
/// measured. A segment whose intercept lies below the latency grows from the latency on.
double growing_part(const TransferCurve& transfer, double bytes) {
  if (transfer.empty()) return 0;
  const double fixed = std::max(transfer.segment_at(bytes).intercept, transfer(0));
  return std::max(0.0, transfer(bytes) - fixed);
}

constexpr double kSameRate = 0.05;  // rates that differ by less are considered equal

/// Seconds by which f exceeds the time of ends and port on the unchanged machine; 0 if that is
/// within the errors of curves that were fitted to the same stream.
double held_beyond(const LevelModel& level, double bytes) {
  constexpr double kNoticeable = 0.1;
  const LevelModel& given = level.as_given ? *level.as_given : level;
  const double gap = given.gap ? (*given.gap)(bytes) : growing_part(given.transfer, bytes);
  double explained = std::max({given.send_overhead(bytes), given.receive_overhead(bytes), gap});
  if (given.unexpected_overhead)
    explained = std::max(explained, (*given.unexpected_overhead)(bytes));
  const double following = (*given.following_overhead)(bytes);
  return following > (1 + kNoticeable) * explained ? following - explained : 0;
}

}  // namespace

Interconnect::Interconnect(const Platform& platform, std::shared_ptr<const Distances> distances)
    : platform_(platform), distances_(std::move(distances)) {}

bool Interconnect::flows(Level level) const {
  const ContentionSetting& network = platform_.contention;
  return level == Level::kNetwork && network.model && network.model->key("sharing") &&
         !network.flows_alone && network.levels[static_cast<size_t>(level)];
}

double Interconnect::in_links(double bytes) const {
  const ContentionSetting& network = platform_.contention;
  // A message uses one of a node's links, as in the measurement of the gap. Cables of a graph have
  // bandwidths of their own.
  const auto links = network.model && network.model->has_own_links
                         ? std::nullopt
                         : network.number("link_bandwidth");
  const auto adapter = network.number("injection_bandwidth");
  const auto rate = links && adapter ? std::min(*links, *adapter) : links ? links : adapter;
  return rate ? bytes / *rate : 0;
}

Interconnect::Wire Interconnect::wire(Level level, double bytes) const {
  const LevelModel* model = model_of(level);
  assert(model);
  const double growing = growing_part(model->transfer, bytes);
  Wire wire;
  wire.gap = model->gap ? (*model->gap)(bytes) : growing;
  wire.data = growing;
  if (!flows(level)) return wire;
  // T may grow faster than the times of ports and links, if a message passes parts of its way one
  // after the other. The next message of its pair follows when ports and links are free.
  const double links = in_links(bytes);
  // A gap no longer than an overhead is processor time, which the sender or receiver spends anyway.
  double processor = std::max(model->send_overhead(bytes), model->receive_overhead(bytes));
  if (model->following_overhead && model->protocol_at(bytes) == Protocol::kEager)
    processor = std::min(processor, (*model->following_overhead)(bytes));
  const bool is_processor = wire.gap > 0 && wire.gap <= (1 + kSameRate) * processor;
  if (is_processor) {
    wire.data = std::min(links > 0 ? std::min(growing, links) : growing, model->transfer(bytes));
    return wire;
  }
  if (wire.gap > 0) {
    const double slowest = links > 0 ? std::min(growing, links) : growing;
    wire.data = std::min(std::max(wire.gap, slowest), model->transfer(bytes));
  }
  if (wire.gap > (1 + kSameRate) * links) wire.port = std::min(wire.gap, wire.data);
  return wire;
}

const LevelModel* Interconnect::model_of(Level level) const {
  const auto& model = platform_.priced_by(level);
  return model ? &*model : nullptr;
}

MessageCost Interconnect::message(PairClass pair, double bytes) const {
  const LevelModel* model = model_of(pair.level());
  assert(model);
  MessageCost cost;
  cost.send_overhead = model->send_overhead(bytes);
  cost.receive_overhead = model->receive_overhead(bytes);
  cost.unexpected_overhead =
      model->unexpected_overhead ? (*model->unexpected_overhead)(bytes) : cost.receive_overhead;
  cost.transfer = model->transfer(bytes);
  cost.gap = model->gap ? (*model->gap)(bytes) : growing_part(model->transfer, bytes);
  cost.burst_gap = model->burst_gap ? std::max((*model->burst_gap)(bytes), cost.gap) : cost.gap;
  cost.second_burst_gap = model->second_burst_gap
                              ? std::max((*model->second_burst_gap)(bytes), cost.gap)
                              : cost.burst_gap;
  cost.latency = std::min(model->transfer(0), cost.transfer);
  if (distances_ && pair.distance() >= 0) {
    const double trip = distances_->latency(pair.distance());
    cost.transfer += model->trips(bytes) * trip;
    cost.latency += trip;
  }
  cost.answer = model->send_overhead(0) + cost.latency + model->receive_overhead(0);
  cost.crossing_delay = model->crossing_delay(bytes);
  cost.synchronous_overhead = model->synchronous_overhead(bytes);
  double most = std::numeric_limits<double>::infinity();
  if (model->following_overhead && model->protocol_at(bytes) == Protocol::kEager)
    most = (*model->following_overhead)(bytes);
  cost.following_send = std::min(cost.send_overhead, most);
  cost.following_receive = std::min(cost.receive_overhead, most);
  cost.following_unexpected = std::min(cost.unexpected_overhead, most);
  // If f is larger, something else holds the sender until the message is received: for that much
  // longer than the times of ends and port, whatever these are in a scenario.
  const double explained =
      std::max({cost.send_overhead, cost.receive_overhead, cost.unexpected_overhead, cost.gap});
  const double held = std::isfinite(most) ? held_beyond(*model, bytes) : 0;
  cost.streamed_send = held > 0 ? explained + held : cost.following_send;
  if (flows(pair.level())) {  // flows share ports: only bursts are left
    const double busy = std::max(cost.gap, in_links(bytes));
    for (double* burst : {&cost.burst_gap, &cost.second_burst_gap}) {
      if (*burst <= (1 + kSameRate) * busy) *burst = 0;
    }
    cost.gap = 0;
  }
  return cost;
}

Protocol Interconnect::protocol(Level level, double bytes) const {
  const LevelModel* model = model_of(level);
  assert(model);
  return model->protocol_at(bytes);
}

double Interconnect::needs_presence_from(Level level) const {
  const LevelModel* model = model_of(level);
  assert(model);
  for (const ProtocolSegment& segment : model->protocols) {
    if (segment.protocol >= Protocol::kPull) return segment.from;
  }
  return std::numeric_limits<double>::infinity();
}

RoundCost Interconnect::round_cost(PairClass pair) const {
  const auto move = [this, pair](double n) {
    const MessageCost message = this->message(pair, n);
    return message.send_overhead + message.transfer + message.receive_overhead;
  };
  const auto port = [this, pair](const MessageCost& message, double n) {
    return flows(pair.level()) ? std::max(wire(pair.level(), n).port, in_links(n)) : message.gap;
  };
  RoundCost cost;
  cost.move = move;
  cost.gap = [this, pair, move, port](double n) {
    const MessageCost message = this->message(pair, n);
    const double gap =
        std::max({port(message, n), message.following_send, message.following_receive});
    return std::min(gap, move(n));
  };
  cost.send = [this, pair, port](double n) {
    const MessageCost message = this->message(pair, n);
    return message.following_send + port(message, n);
  };
  cost.receive = [this, pair](double n) {
    const MessageCost message = this->message(pair, n);
    // A rendezvous waits for its receiver with the data.
    const bool is_there = protocol(pair.level(), n) == Protocol::kEager;
    return message.following_receive + (is_there ? 0 : message.transfer - message.latency);
  };
  cost.combine = [this](double n) { return combine(n); };
  return cost;
}

double Interconnect::collective(CollectiveOp op, int members, double bytes,
                                PairClass widest) const {
  return platform_.collectives.seconds(op, members, bytes, round_cost(widest));
}

double Interconnect::collective_departure(CollectiveOp op, int members, double bytes,
                                          PairClass widest, bool is_root) const {
  return platform_.collectives.departure(op, members, bytes, is_root, round_cost(widest));
}

}  // namespace rubato
