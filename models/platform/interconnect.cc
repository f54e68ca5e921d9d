#include "models/platform/interconnect.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace rubato {

Interconnect::Interconnect(const Platform& platform, std::shared_ptr<const Distances> distances)
    : platform_(platform), distances_(std::move(distances)) {}

const LevelModel* Interconnect::model_of(Level level) const {
  const auto& model = platform_.priced_by(level);
  return model ? &*model : nullptr;
}

MessageWay Interconnect::way(PairClass pair, double bytes) const {
  MessageWay way;
  if (distances_ && pair.distance() >= 0)
    way.further_latency = distances_->latency(pair.distance());
  const ContentionSetting& network = platform_.contention;
  const bool flows = pair.level() == Level::kNetwork && network.model &&
                     network.model->key("sharing") && !network.flows_alone &&
                     network.levels[static_cast<size_t>(Level::kNetwork)];
  if (!flows) return way;
  // A message uses one of a node's links, as in the measurement of the gap. Cables of a graph have
  // bandwidths of their own.
  const auto links = network.model->has_own_links ? std::nullopt : network.number("link_bandwidth");
  const auto adapter = network.number("injection_bandwidth");
  const auto rate = links && adapter ? std::min(*links, *adapter) : links ? links : adapter;
  way.in_links = rate ? bytes / *rate : 0;
  return way;
}

MessageCost Interconnect::message(PairClass pair, double bytes) const {
  const LevelModel* model = model_of(pair.level());
  assert(model);
  MessageCost cost(*model, bytes, way(pair, bytes));
  if (platform_.message_model) platform_.message_model(pair.level(), bytes, cost);
  return cost;
}

Wire Interconnect::wire(PairClass pair, double bytes) const {
  const LevelModel* model = model_of(pair.level());
  assert(model);
  return message_wire(*model, bytes, way(pair, bytes));
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
  const auto port = [this, pair](const MessageCost& message, double n) {
    const auto in_links = way(pair, n).in_links;
    return in_links ? std::max(wire(pair, n).port, *in_links) : message.gap;
  };
  RoundCost cost;
  cost.move = [this, pair](double n) { return message(pair, n).move(); };
  cost.gap = [this, pair, port](double n) {
    const MessageCost message = this->message(pair, n);
    return message.next(port(message, n));
  };
  cost.send = [this, pair, port](double n) {
    const MessageCost message = this->message(pair, n);
    return message.leave(port(message, n));
  };
  cost.receive = [this, pair](double n) { return message(pair, n).take(0); };
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
