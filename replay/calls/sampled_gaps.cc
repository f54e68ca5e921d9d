#include "replay/calls/sampled_gaps.h"

#include <algorithm>

namespace rubato {
namespace {

/// Gaps in step with the kernel's tick have fewer samples than their time, or more.
constexpr double kMostPerSample = 2;

/// Square of the half-width of the interval of a share that `part` of these samples have.
double error2(double part, uint64_t samples) {
  constexpr double kSquare = 1.96 * 1.96;
  const double count = static_cast<double>(samples) + kSquare;
  const double center = (part * static_cast<double>(samples) + kSquare / 2) / count;
  return kSquare * center * (1 - center) / count;
}

}  // namespace

void SampledGaps::settle() {
  double most = 0;  // sampled, of a tick
  for (const Kind& kind : kinds_) {
    if (kind.samples >= kOwnShares) most = std::max(most, kind.sampled / kind.gaps);
  }
  if (most == 0 || most > 1) most = 1;
  for (Kind& kind : kinds_) {
    if (kind.samples == 0 || !(kind.gaps > 0)) continue;
    const double period = kind.sampled / static_cast<double>(kind.samples);
    kind.known = std::min(1.0, kMostPerSample * (kind.sampled + period) / most / kind.gaps);
  }
}

void SampledGaps::add(std::vector<Found>& found, const Found& more, size_t begin) {
  const auto same = std::find_if(found.begin() + static_cast<std::ptrdiff_t>(begin), found.end(),
                                 [&](const Found& each) { return each.node == more.node; });
  if (same == found.end()) return found.push_back(more);
  same->ticks += more.ticks;
  same->since += more.since;
  same->samples += more.samples;
}

void SampledGaps::sample(std::span<const CalledFunction> path, double ticks, double since) {
  uint32_t node = CallTree::kRoot;
  uint64_t chosen = 0;
  for (const CalledFunction& function : path) {
    chosen |= function.chosen;
    node = paths_.call(node, function.number);
    if (node == chosen_.size()) chosen_.push_back(chosen);
  }
  open_.push_back({node, ticks, before_piece_ + since, 1});
}

// Combines samples in windows of 1, 2, 4, ... of them, until there are few enough.
std::vector<SampledGaps::Found> SampledGaps::in_order() {
  std::vector<Found> found;
  size_t window = in_order_ < kMostInOrder ? 1 : open_.size();
  for (;; window *= 2) {
    found.clear();
    for (size_t i = 0, begin = 0; i < open_.size(); ++i) {
      if (i % window == 0) begin = found.empty() ? 0 : found.size() - 1;
      add(found, open_[i], begin);
    }
    if (found.size() <= kMostInGap || window >= open_.size()) break;
  }
  in_order_ += found.size();
  return found;
}

uint32_t SampledGaps::end_piece(double ticks) {
  if (pieces_ == kNoPlace) {
    pieces_ = static_cast<uint32_t>(kinds_.size());
    kinds_.emplace_back();
  }
  before_piece_ += ticks;
  return pieces_;
}

uint32_t SampledGaps::end_gap(uint32_t site, uint32_t call, double ticks) {
  const uint64_t after = uint64_t{site} << 32 | call;
  const auto next = static_cast<uint32_t>(kinds_.size());
  const uint32_t number = open_.size() >= kOwnShares
                              ? next
                              : numbers_.emplace(std::pair(before_, after), next).first->second;
  if (number == next) kinds_.emplace_back();
  before_ = after;
  if (pieces_ != kNoPlace) kinds_[pieces_].same_as = number;
  Kind& kind = kinds_[number];
  kind.gaps += before_piece_ + ticks;
  if (in_window_) kind.in_window += before_piece_ + ticks;
  pieces_ = kNoPlace;
  before_piece_ = 0;
  for (const Found& sample : open_) {
    kind.sampled += sample.ticks;
    ++kind.samples;
    if (number != next) add(kind.found, sample);
  }
  if (number == next) kind.found = in_order();
  open_.clear();
  return number;
}

void SampledGaps::begin_window() {
  for (Kind& kind : kinds_) kind.in_window = 0;
}

std::vector<std::vector<FunctionPart>> SampledGaps::shares() const {
  std::vector<std::vector<FunctionPart>> all;
  for (const Kind& each : kinds_) {
    const Kind& kind = each.same_as == kNoPlace ? each : kinds_[each.same_as];
    std::vector<Found> functions = kind.found;
    std::stable_sort(functions.begin(), functions.end(), [](const Found& a, const Found& b) {
      return a.since * static_cast<double>(b.samples) < b.since * static_cast<double>(a.samples);
    });
    std::vector<FunctionPart>& parts = all.emplace_back();
    for (const Found& found : functions) {
      parts.push_back({paths_.nodes()[found.node].function, kind.known * found.ticks / kind.sampled,
                       0, found.node});
    }
  }
  return all;
}

void SampledGaps::resolve(std::vector<FunctionTime>& times) const {
  std::vector<std::map<uint64_t, double>> shares;  // by kind and functions
  for (const Kind& each : kinds_) {
    const Kind& kind = each.same_as == kNoPlace ? each : kinds_[each.same_as];
    shares.emplace_back();
    for (const Found& found : kind.found) {
      if (chosen_[found.node] != 0)
        shares.back()[chosen_[found.node]] += kind.known * found.ticks / kind.sampled;
    }
  }
  std::vector<FunctionTime> resolved;
  for (const FunctionTime& gap : times) {
    for (const auto& [functions, share] : shares[gap.functions])
      resolved.push_back({gap.event, functions, share * gap.ticks});
  }
  times = std::move(resolved);
}

CallTree SampledGaps::tree() const {
  CallTree tree = paths_;
  for (const Kind& kind : kinds_) {
    const double ticks = kind.in_window * kind.known;
    std::map<uint32_t, double> own, below;  // by node: part of the samples
    for (const Found& found : kind.found) {
      const double part = found.ticks / kind.sampled;
      tree[found.node].ticks += ticks * part;
      own[found.node] += part;
      for (uint32_t i = found.node; i != CallTree::kRoot; i = tree.nodes()[i].parent)
        below[i] += part;
    }
    for (const auto& [node, part] : own)
      tree[node].own_error2 += ticks * ticks * error2(part, kind.samples);
    for (const auto& [node, part] : below)
      tree[node].error2 += ticks * ticks * error2(part, kind.samples);
  }
  return tree;
}

}  // namespace rubato
