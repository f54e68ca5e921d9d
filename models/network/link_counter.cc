#include "models/network/link_counter.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

/// Drawings of larger topologies would take longer than their replay.
constexpr size_t kMostLinks = size_t{1} << 18;

LinkLoads::Drawing draw(const Topology& topology, const std::vector<double>& bytes,
                        const std::vector<double>& loads, double span) {
  LinkLoads::Drawing drawing;
  if (topology.links().size() > kMostLinks) return drawing;
  TopologyDrawing whole = topology.drawing();
  const auto busiest = [&](const std::vector<uint32_t>& links) {
    double most = 0;
    for (const uint32_t link : links)
      most = std::max(most, bytes[link] / topology.links()[link].bandwidth);
    return most;
  };
  const auto load = [&](const TopologyDrawing::Cable& cable) {
    double most = 0;
    for (const auto* links : {&cable.there, &cable.back}) {
      for (const uint32_t link : *links) most = std::max(most, loads[topology.links()[link].kind]);
    }
    return most;
  };
  std::vector<std::pair<double, uint32_t>> order;  // the busiest in front
  std::vector<LinkLoads::Drawing::Busy> busy;
  for (uint32_t i = 0; i < whole.cables.size(); ++i) {
    const TopologyDrawing::Cable& cable = whole.cables[i];
    busy.push_back({busiest(cable.there), busiest(cable.back), load(cable)});
    order.push_back({-std::max(busy[i].there, busy[i].back) / span - busy[i].load, i});
  }
  std::sort(order.begin(), order.end());
  drawing.cables = order.size();
  drawing.shape.is_round = whole.is_round;
  order.resize(std::min(order.size(), LinkLoads::kDrawnCables));
  const bool all = order.size() == drawing.cables;
  std::vector<uint32_t> number(whole.vertices.size(), UINT32_MAX);  // in the drawing
  const auto vertex = [&](uint32_t i) {
    if (number[i] == UINT32_MAX) {
      number[i] = static_cast<uint32_t>(drawing.shape.vertices.size());
      drawing.shape.vertices.push_back(std::move(whole.vertices[i]));
    }
    return number[i];
  };
  for (uint32_t i = 0; all && i < whole.vertices.size(); ++i) vertex(i);
  for (const auto& [_, i] : order) {
    const TopologyDrawing::Cable& cable = whole.cables[i];
    drawing.shape.cables.push_back({vertex(cable.from), vertex(cable.to), {}, {}, cable.bends});
    drawing.busy.push_back(busy[i]);
  }
  return drawing;
}

}  // namespace

LinkCounter::LinkCounter(const Topology& topology, double ticks_per_second,
                         std::vector<double> loads)
    : topology_(&topology),
      ticks_per_second_(ticks_per_second),
      loads_(std::move(loads)),
      by_kind_(topology.kinds().size()),
      by_link_(topology.links().size(), 0) {
  for (auto& bins : by_kind_) bins.fill(0);
}

void LinkCounter::begin(Stream& stream, std::span<const FairShare::Use> route, double now) {
  if (used_ == 0) {
    begin_ = now;
    used_ = 1;
  }
  Kinds& kinds = kinds_of_route_;
  kinds.clear();
  for (const FairShare::Use& use : route) {
    const int kind = topology_->links()[use.link].kind;
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& entry) { return entry.first == kind; });
    if (known == kinds.end()) {
      kinds.push_back({kind, use.weight});
    } else {
      known->second += use.weight;
    }
  }
  const auto [known, is_new] =
      kinds_known_.try_emplace(kinds, static_cast<uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kinds);
  stream = {.kinds = known->second};
}

void LinkCounter::move(const Stream& stream, double bytes, double from, double to) {
  while (to - begin_ > bin_ * LinkLoads::kMostBins) widen();
  const double first = (from - begin_) / bin_, last = (to - begin_) / bin_;
  const auto end = std::min(static_cast<size_t>(std::ceil(last)), size_t{LinkLoads::kMostBins});
  used_ = std::max(used_, end);
  for (auto i = static_cast<size_t>(first); i < end; ++i) {
    const auto at = static_cast<double>(i);
    const double part =
        last > first ? (std::min(at + 1, last) - std::max(at, first)) / (last - first) : 1;
    for (const auto& [kind, weight] : kinds_[stream.kinds])
      by_kind_[kind][i] += weight * bytes * part;
  }
}

void LinkCounter::widen() {
  for (auto& bins : by_kind_) {
    for (size_t i = 0; i < bins.size() / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
    std::fill(bins.begin() + bins.size() / 2, bins.end(), 0);
  }
  bin_ *= 2;
  used_ = (used_ + 1) / 2;
}

void LinkCounter::end_flow(Stream& stream, double bytes, double delay) {
  stream.bytes += bytes;
  ++flows_;
  if (delay <= 0) return;
  ++slowed_;
  delay_ += delay;
}

LinkLoads LinkCounter::loads() const {
  LinkLoads loads;
  loads.begin = begin_ / ticks_per_second_;
  loads.bin = bin_ / ticks_per_second_;
  loads.flows = flows_;
  loads.slowed = slowed_;
  loads.delay = delay_ / ticks_per_second_;
  for (size_t i = 0; i < by_kind_.size(); ++i) {
    LinkLoads::Kind kind{topology_->kinds()[i]};
    kind.load = loads_[i];
    kind.by_bin.assign(by_kind_[i].begin(), by_kind_[i].begin() + static_cast<long>(used_));
    loads.kinds.push_back(std::move(kind));
  }
  const std::vector<Topology::Link>& links = topology_->links();
  std::vector<uint32_t> used;
  for (uint32_t link = 0; link < links.size(); ++link) {
    LinkLoads::Kind& kind = loads.kinds[links[link].kind];
    ++kind.links;
    kind.capacity += links[link].bandwidth;
    kind.bytes += by_link_[link];
    if (by_link_[link] > 0) used.push_back(link);
  }
  const double span = loads.bin * static_cast<double>(std::max<size_t>(used_, 1));
  const size_t hottest = std::min(used.size(), LinkLoads::kHottest);
  std::partial_sort(used.begin(), used.begin() + static_cast<long>(hottest), used.end(),
                    [&](uint32_t a, uint32_t b) {
                      const auto busy = [&](uint32_t link) {
                        return by_link_[link] / (links[link].bandwidth * span) +
                               loads_[links[link].kind];
                      };
                      const double busy_a = busy(a), busy_b = busy(b);
                      return busy_a != busy_b ? busy_a > busy_b : a < b;
                    });
  for (size_t i = 0; i < hottest; ++i) {
    const std::string name = topology_->link_name(used[i]);
    loads.hottest.push_back({name.empty() ? "link " + std::to_string(used[i]) : name,
                             by_link_[used[i]], links[used[i]].bandwidth,
                             loads_[links[used[i]].kind]});
  }
  loads.drawing = draw(*topology_, by_link_, loads_, span);
  return loads;
}

}  // namespace rubato
