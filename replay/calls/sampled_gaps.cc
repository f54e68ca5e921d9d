#include "replay/calls/sampled_gaps.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kOf95 = 1.96;

/// Square of the half-width of the interval of a share that `part` of these samples have.
double error2(double part, uint64_t samples) {
  constexpr double kSquare = kOf95 * kOf95;
  const double count = static_cast<double>(samples) + kSquare;
  const double center = (part * static_cast<double>(samples) + kSquare / 2) / count;
  return kSquare * center * (1 - center) / count;
}

}  // namespace

double SampledGaps::Kind::known() const {
  if (samples == 0 || !(gaps > 0)) return 0;
  const double period = sampled / static_cast<double>(samples);
  return std::min(1.0, (sampled + period * (2 + kOf95 * std::sqrt(samples))) / gaps);
}

void SampledGaps::add(std::vector<Found>& found, const Found& more) {
  const auto same = std::find_if(found.begin(), found.end(),
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
  open_.push_back({node, ticks, since, 1});
}

uint32_t SampledGaps::end_gap(uint32_t site, uint32_t call, double ticks) {
  const uint64_t after = uint64_t{site} << 32 | call;
  const auto next = static_cast<uint32_t>(kinds_.size());
  const uint32_t number = open_.size() >= kOwnShares
                              ? next
                              : numbers_.emplace(std::pair(before_, after), next).first->second;
  if (number == next) kinds_.emplace_back();
  before_ = after;
  Kind& kind = kinds_[number];
  kind.gaps += ticks;
  if (in_window_) kind.in_window += ticks;
  for (const Found& sample : open_) {
    kind.sampled += sample.ticks;
    ++kind.samples;
    add(kind.found, sample);
  }
  open_.clear();
  return number;
}

void SampledGaps::begin_window() {
  for (Kind& kind : kinds_) kind.in_window = 0;
}

std::vector<std::vector<FunctionPart>> SampledGaps::shares() const {
  std::vector<std::vector<FunctionPart>> all;
  for (const Kind& kind : kinds_) {
    std::vector<Found> functions;  // Found::node: the function
    for (Found found : kind.found) {
      found.node = paths_.nodes()[found.node].function;
      add(functions, found);
    }
    std::stable_sort(functions.begin(), functions.end(), [](const Found& a, const Found& b) {
      return a.since * static_cast<double>(b.samples) < b.since * static_cast<double>(a.samples);
    });
    std::vector<FunctionPart>& parts = all.emplace_back();
    for (const Found& found : functions)
      parts.push_back({found.node, kind.known() * found.ticks / kind.sampled});
  }
  return all;
}

void SampledGaps::resolve(std::vector<FunctionTime>& times) const {
  std::vector<std::map<uint64_t, double>> shares;  // by kind and functions
  for (const Kind& kind : kinds_) {
    shares.emplace_back();
    for (const Found& found : kind.found) {
      if (chosen_[found.node] != 0)
        shares.back()[chosen_[found.node]] += kind.known() * found.ticks / kind.sampled;
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
    const double ticks = kind.in_window * kind.known();
    std::map<uint32_t, double> below;  // by node: part of the samples
    for (const Found& found : kind.found) {
      const double part = found.ticks / kind.sampled;
      tree[found.node].ticks += ticks * part;
      tree[found.node].own_error2 += ticks * ticks * error2(part, kind.samples);
      for (uint32_t i = found.node; i != CallTree::kRoot; i = tree.nodes()[i].parent)
        below[i] += part;
    }
    for (const auto& [node, part] : below)
      tree[node].error2 += ticks * ticks * error2(part, kind.samples);
  }
  return tree;
}

}  // namespace rubato
