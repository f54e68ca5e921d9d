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

FewMessages::FewMessages(const TraceDefinitions& trace, size_t most)
    : trace_(&trace), most_(most), arriving_(trace.timelines()) {}

void FewMessages::begin() {
  too_many_ = false;
  messages_.clear();
  arriving_.assign(trace_->timelines(), {});
}

void FewMessages::message(const Delivery& delivery) {
  if (too_many_) return;
  if (messages_.size() == most_) {
    too_many_ = true;
    messages_.clear();
    arriving_.assign(trace_->timelines(), {});
    return;
  }
  arriving_[delivery.receiver].push_back(static_cast<uint32_t>(messages_.size()));
  messages_.push_back(
      {trace_->rank_of(delivery.sender), delivery.sent, trace_->rank_of(delivery.receiver), 0});
}

void FewMessages::call(int timeline, const Call& /*call*/, const Block& /*block*/,
                       const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                       const Lanes<1>& /*enter*/, const Lanes<1>& leave) {
  for (const uint32_t number : arriving_[timeline]) messages_[number].received = leave[0];
  arriving_[timeline].clear();
}

std::vector<DrawnMessage> FewMessages::take(double begin) {
  const auto key = [](const DrawnMessage& each) {
    return std::tuple(each.sender, each.sent, each.receiver, each.received);
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
