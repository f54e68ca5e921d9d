#include "replay/analyse/traffic_picture.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rubato {

TrafficPicture traffic_picture(const ScenarioProfile& profile, int most) {
  TrafficPicture picture;
  const int ranks = static_cast<int>(profile.ranks.size());
  picture.ranks_per_row = std::max(1, (ranks + most - 1) / most);
  picture.rows = (ranks + picture.ranks_per_row - 1) / picture.ranks_per_row;
  std::map<std::pair<int, int>, TrafficCell> cells;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankProfile& each = profile.ranks[rank];
    const int row = rank / picture.ranks_per_row;
    for (const PeerTraffic& peer : each.peers) {
      if (peer.sent.count == 0 && !(peer.time > 0)) continue;
      const int column = peer.peer / picture.ranks_per_row;
      TrafficCell& cell = cells[{row, column}];
      cell.row = row;
      cell.column = column;
      cell.sent += peer.sent;
      cell.seconds += peer.time;
    }
    for (const CallRow& call : each.calls) picture.sizes += call.traffic.sent;
  }
  picture.cells.reserve(cells.size());
  for (const auto& [place, cell] : cells) picture.cells.push_back(cell);
  return picture;
}

LongestMessages::LongestMessages(const TraceDefinitions& trace, size_t most)
    : trace_(&trace), most_(most), arriving_(trace.timelines()) {}

void LongestMessages::begin() {
  all_ = 0;
  messages_.clear();
  arriving_.assign(trace_->timelines(), {});
}

void LongestMessages::message(const Delivery& delivery) {
  ++all_;
  arriving_[delivery.receiver].push_back({delivery.sender, delivery.sent, delivery.receiver, 0});
}

void LongestMessages::call(int timeline, const Call& /*call*/, const Block& /*block*/,
                           const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                           const Lanes<1>& /*enter*/, const Lanes<1>& leave) {
  if (arriving_[timeline].empty()) return;
  for (DrawnMessage& each : arriving_[timeline]) {
    each.received = leave[0];
    messages_.push_back(each);
  }
  arriving_[timeline].clear();
  if (messages_.size() > 2 * most_) forget_shortest(most_);
}

// (The order is total, so that the result does not depend on the order of timelines.)
void LongestMessages::forget_shortest(size_t most) {
  if (messages_.size() <= most) return;
  const auto key = [](const DrawnMessage& each) {
    return std::tuple(each.sent - each.received, each.sent, each.sender, each.receiver);
  };
  std::nth_element(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(most),
                   messages_.end(),
                   [&](const DrawnMessage& a, const DrawnMessage& b) { return key(a) < key(b); });
  messages_.resize(most);
}

std::vector<DrawnMessage> LongestMessages::take(double begin, size_t most) {
  forget_shortest(std::min(most, most_));
  const auto key = [](const DrawnMessage& each) {
    return std::tuple(each.sent, each.sender, each.received, each.receiver);
  };
  std::sort(messages_.begin(), messages_.end(),
            [&](const DrawnMessage& a, const DrawnMessage& b) { return key(a) < key(b); });
  for (DrawnMessage& each : messages_) {
    each.sent = each.sent / trace_->ticks_per_second - begin;
    each.received = each.received / trace_->ticks_per_second - begin;
  }
  return std::exchange(messages_, {});
}

}  // namespace rubato
