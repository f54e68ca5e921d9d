#include "models/platform/message_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato {
namespace {

constexpr double kSameRate = 0.05;  // rates that differ by less are considered equal

/// What a message occupies a port for. When no gap was measured: the part of T that grows with the
/// size. A segment whose intercept lies below the latency grows from the latency on.
double growing_part(const TransferCurve& transfer, double bytes) {
  if (transfer.empty()) return 0;
  const double fixed = std::max(transfer.segment_at(bytes).intercept, transfer(0));
  return std::max(0.0, transfer(bytes) - fixed);
}
double gap_of(const LevelModel& level, double bytes) {
  return level.gap ? (*level.gap)(bytes) : growing_part(level.transfer, bytes);
}

/// f; without a bound infinite.
double following(const LevelModel& level, double bytes) {
  return level.following_overhead && level.protocol_at(bytes) == Protocol::kEager
             ? (*level.following_overhead)(bytes)
             : std::numeric_limits<double>::infinity();
}

/// Seconds by which f exceeds the time of ends and port on the unchanged machine; 0 if that is
/// within the errors of curves that were fitted to the same stream.
double held_beyond(const LevelModel& level, double bytes) {
  constexpr double kNoticeable = 0.1;
  const LevelModel& given = level.as_given ? *level.as_given : level;
  double explained =
      std::max({given.send_overhead(bytes), given.receive_overhead(bytes), gap_of(given, bytes)});
  if (given.unexpected_overhead)
    explained = std::max(explained, (*given.unexpected_overhead)(bytes));
  const double following = (*given.following_overhead)(bytes);
  return following > (1 + kNoticeable) * explained ? following - explained : 0;
}

}  // namespace

MessageCost::MessageCost(const LevelModel& level, double bytes, const MessageWay& way)
    : protocol(level.protocol_at(bytes)) {
  send_overhead = level.send_overhead(bytes);
  receive_overhead = level.receive_overhead(bytes);
  unexpected_overhead =
      level.unexpected_overhead ? (*level.unexpected_overhead)(bytes) : receive_overhead;
  transfer = level.transfer(bytes);
  gap = gap_of(level, bytes);
  double burst = level.burst_gap ? std::max((*level.burst_gap)(bytes), gap) : gap;
  double second = level.second_burst_gap ? std::max((*level.second_burst_gap)(bytes), gap) : burst;
  latency = std::min(level.transfer(0), transfer) + way.further_latency;
  transfer += level.trips(bytes) * way.further_latency;
  answer = level.send_overhead(0) + latency + level.receive_overhead(0);
  crossing_delay = level.crossing_delay(bytes);
  synchronous_overhead = level.synchronous_overhead(bytes);
  const double most = following(level, bytes);
  following_send = std::min(send_overhead, most);
  following_receive = std::min(receive_overhead, most);
  following_unexpected = std::min(unexpected_overhead, most);
  // If f is larger, something else holds the sender until the message is received: for that much
  // longer than the times of ends and port, whatever these are in a scenario.
  const double explained = std::max({send_overhead, receive_overhead, unexpected_overhead, gap});
  const double held = std::isfinite(most) ? held_beyond(level, bytes) : 0;
  streamed_send = held > 0 ? explained + held : following_send;
  if (way.in_links) {  // flows share ports: only bursts are left
    const double busy = (1 + kSameRate) * std::max(gap, *way.in_links);
    if (burst <= busy) burst = 0;
    if (second <= busy) second = 0;
    gap = 0;
  }
  burst_delay = burst - gap;
  second_burst_delay = second - gap;
}

double MessageCost::next(double port) const {
  return std::min(std::max({port, following_send, following_receive}), move());
}

Wire message_wire(const LevelModel& level, double bytes, const MessageWay& way) {
  const double growing = growing_part(level.transfer, bytes);
  Wire wire;
  wire.gap = gap_of(level, bytes);
  wire.data = growing;
  if (!way.in_links) return wire;
  // T may grow faster than the times of ports and links, if a message passes parts of its way one
  // after the other. The next message of its pair follows when ports and links are free.
  const double links = *way.in_links;
  const double slowest = links > 0 ? std::min(growing, links) : growing;
  // A gap no longer than an overhead is processor time, which the sender or receiver spends anyway.
  const double processor = std::min(
      std::max(level.send_overhead(bytes), level.receive_overhead(bytes)), following(level, bytes));
  const bool is_processor = wire.gap > 0 && wire.gap <= (1 + kSameRate) * processor;
  if (is_processor) {
    wire.data = std::min(slowest, level.transfer(bytes));
    return wire;
  }
  if (wire.gap > 0) wire.data = std::min(std::max(wire.gap, slowest), level.transfer(bytes));
  if (wire.gap > (1 + kSameRate) * links) wire.port = std::min(wire.gap, wire.data);
  return wire;
}

}  // namespace rubato
