#include "models/fit/network_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "models/base/number_text.h"
#include "models/base/units.h"
#include "models/scenario/level_changes.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

constexpr double kSame = 0.05;         // rates that differ by less are considered equal
constexpr double kSameInNoise = 0.25;  // the same if ranks are disturbed
constexpr double kGrows = 0.2;         // of the longest message's time, from one length to the next
constexpr double kErrorsOfRates = 5;   // of a time: how much rates may differ in noise
constexpr double kExplains = 0.15;     // the largest error of a network that explains the rates
constexpr double kOvertakes = 0.6;     // of the time of a long message, for a short one behind it

using Rates = std::map<Shift, double>;

constexpr const char* kShortBehindLong = "short_behind_long";
const std::string kInOrder = "all_in_order_of_", kInTurn = "all_in_turn_of_";

/// Bytes per second of one rank, from the growth between the two longest messages, which excludes
/// latencies and handshakes. Messages too short for this give no rate.
Rates rates_of(const ShiftTimes& times) {
  Rates rates;
  for (const auto& [shift, seconds] : times) {
    if (seconds.size() < 2) continue;
    const auto last = std::prev(seconds.end()), before = std::prev(last);
    const double growth = last->second - before->second;
    if (growth > kGrows * last->second) rates[shift] = (last->first - before->first) / growth;
  }
  return rates;
}

/// The most messages of a shift that leave, or enter, one switch of `leaf` nodes.
int most_through_uplink(const Shift& shift, int leaf) {
  std::map<int, int> out, in;
  for (int node = 0; node < shift.nodes; ++node) {
    const int from = node / leaf, to = (node + shift.shift) % shift.nodes / leaf;
    if (from == to) continue;
    out[from] += shift.ranks;
    in[to] += shift.ranks;
  }
  int most = 0;
  for (const auto* counts : {&out, &in}) {
    for (const auto& [at, messages] : *counts) most = std::max(most, messages);
  }
  return most;
}

/// How far a rate is from the expected one. Sharing makes no rate higher than that of a pair
/// `alone`, so if nothing is shared a higher one says that the pair was disturbed, not how.
double error_of(double rate, double expected, double alone) {
  const double error = expected / rate - 1;
  return expected >= alone ? std::max(0.0, error) : std::abs(error);
}

/// Tries to explain the rates by a resource that a given number of messages of each shift share.
template <typename Messages>
void try_shared(const Rates& rates, double alone, double same, const Messages& messages,
                SharedLinks::Kind kind, SharedLinks& best, double& rate, const auto& accept) {
  std::vector<double> rates_of_resource;
  for (const auto& [shift, of_rank] : rates) {
    if (of_rank < (1 - same) * alone && messages(shift) > 0)
      rates_of_resource.push_back(of_rank * messages(shift));
  }
  if (rates_of_resource.empty()) return;
  const double whole = median(rates_of_resource);
  SharedLinks found;
  for (const auto& [shift, of_rank] : rates) {
    const int passing = messages(shift);
    const double expected = passing > 0 ? std::min(alone, whole / passing) : alone;
    const double error = error_of(of_rank, expected, alone);
    if (error < found.worst) continue;
    found.worst = error;
    found.worst_shift = shift.name();
  }
  if (found.worst >= best.worst) return;
  found.kind = kind;
  best = found;
  rate = whole;
  accept();
}

/// True if a short message overtakes a long one with the same ends, which takes its length over
/// `one_way`; none if this is not known. Both have to be eager, or both not: an eager message
/// overtakes the handshake of another one anyway.
std::optional<bool> overtakes(const ShiftTimes& times, double one_way,
                              std::optional<double> eager) {
  const auto behind = times.find({2, 1, 1, Shift::Form::kOvertaking});
  if (!eager || !(one_way > 0) || behind == times.end()) return std::nullopt;
  for (auto each = behind->second.rbegin(); each != behind->second.rend(); ++each) {
    const auto& [bytes, seconds] = *each;
    const auto& [least, first] = *behind->second.begin();
    const bool alike = bytes <= *eager || bytes * Shift::kShort > *eager;
    if (!alike || bytes == least) continue;
    // The growth excludes latencies and the answer.
    return seconds - first < kOvertakes * (bytes - least) / one_way;
  }
  return std::nullopt;
}

std::string percent(double value, int digits) {
  return fixed_text(100 * value, digits) + " %";
}

}  // namespace

std::string Shift::name() const {
  if (form == Form::kOvertaking) return kShortBehindLong;
  if (form != Form::kShift)
    return (form == Form::kInOrder ? kInOrder : kInTurn) + std::to_string(nodes);
  return "shift_" + std::to_string(shift) + "_of_" + std::to_string(nodes) +
         (ranks > 1 ? "_by_" + std::to_string(ranks) : "");
}

std::optional<Shift> shift_named(const std::string& pattern) {
  Shift shift;
  if (pattern == kShortBehindLong) {
    shift.form = Shift::Form::kOvertaking;
    return shift;
  }
  for (const std::string* name : {&kInOrder, &kInTurn}) {
    if (!pattern.starts_with(*name)) continue;
    shift.form = name == &kInOrder ? Shift::Form::kInOrder : Shift::Form::kInTurn;
    shift.nodes = std::atoi(pattern.c_str() + name->size());
    return shift.name() == pattern && shift.nodes > 2 ? std::optional(shift) : std::nullopt;
  }
  int read = 0;
  const int found = std::sscanf(pattern.c_str(), "shift_%d_of_%d%n_by_%d%n", &shift.shift,
                                &shift.nodes, &read, &shift.ranks, &read);
  if (found < 2 || read != static_cast<int>(pattern.size())) return std::nullopt;
  if (shift.nodes < 2 || shift.shift < 1 || shift.shift >= shift.nodes || shift.ranks < 1)
    return std::nullopt;
  return shift;
}

std::vector<Shift> shifts_to_measure(int nodes, int ranks_per_node) {
  std::vector<Shift> shifts;
  if (nodes < 2) return shifts;
  for (int some = 2; some < nodes; some *= 2) shifts.push_back({some, some / 2, 1});
  for (int distance = 1; distance < nodes / 2; distance *= 2)
    shifts.push_back({nodes, distance, 1});
  shifts.push_back({nodes, std::max(1, nodes / 2), 1});
  if (ranks_per_node > 1) {
    shifts.push_back({2, 1, ranks_per_node});
    if (nodes > 2) shifts.push_back({nodes, nodes / 2, ranks_per_node});
  }
  if (nodes > 2) {
    const int some = std::min(nodes, kMostSpread);
    shifts.push_back({some, 1, 1, Shift::Form::kInOrder});
    shifts.push_back({some, 1, 1, Shift::Form::kInTurn});
  }
  shifts.push_back({2, 1, 1, Shift::Form::kOvertaking});
  return shifts;
}

std::optional<bool> ports_are_fair(const ShiftTimes& times) {
  for (const auto& [shift, in_order] : times) {
    if (shift.form != Shift::Form::kInOrder || shift.nodes < 3) continue;
    const auto in_turn = times.find({shift.nodes, 1, 1, Shift::Form::kInTurn});
    if (in_turn == times.end() || in_order.empty() || in_turn->second.empty()) continue;
    const auto longest = in_turn->second.find(in_order.rbegin()->first);
    const auto least = in_turn->second.find(in_order.begin()->first);
    if (longest == in_turn->second.end() || least == in_turn->second.end()) continue;
    // The growth excludes latencies.
    const double growth = longest->second - least->second;
    if (!(growth > kGrows * longest->second)) continue;
    const double n = shift.nodes, ordered = (2 * n - 3) / (n - 1);
    return (in_order.rbegin()->second - in_order.begin()->second) / growth < (1 + ordered) / 2;
  }
  return std::nullopt;
}

std::optional<SharedLinks> fit_shared_links(const ShiftTimes& times, double one_way, bool exact,
                                            double noise, std::optional<double> eager) {
  const double same = exact ? kSame : std::min(kSame + kErrorsOfRates * noise, kSameInNoise);
  Rates rates = rates_of(times);
  std::erase_if(rates, [](const auto& one) { return one.first.form != Shift::Form::kShift; });
  const auto two = rates.find({2, 1, 1});
  if (two == rates.end()) return std::nullopt;
  const double alone = two->second;
  double adapter = alone;
  int nodes = 2, ranks = 1;
  // Several ranks of a node: the limit that two nodes show already is due to their adapters.
  bool share = false;
  for (const auto& [shift, rate] : rates) {
    if (shift.nodes == 2 && shift.ranks > 1) {
      share = rate < (1 - same) * alone;
      adapter = shift.ranks * (share ? rate : alone);
    }
    nodes = std::max(nodes, shift.nodes);
    ranks = std::max(ranks, shift.ranks);
  }
  std::erase_if(rates, [](const auto& one) { return one.first.ranks > 1; });

  SharedLinks best;
  for (const auto& [shift, rate] : rates) {
    const double error = error_of(rate, alone, alone);
    if (error < best.worst) continue;
    best.worst = error;
    best.worst_shift = shift.name();
  }
  if (best.worst > same) {
    try_shared(
        rates, alone, same, [](const Shift& shift) { return shift.nodes * shift.ranks; },
        SharedLinks::Kind::kBackbone, best, best.backbone, [] {});
    double backbone = best.backbone;
    for (int leaf = 2; leaf < nodes; ++leaf) {
      double uplink = 0;
      try_shared(
          rates, alone, same,
          [leaf](const Shift& shift) { return most_through_uplink(shift, leaf); },
          SharedLinks::Kind::kTapered, best, uplink,
          [&] {
            best.uplink = uplink;
            best.leaf = leaf;
            backbone = 0;
          });
    }
    best.backbone = backbone;
    if (best.worst > std::max(kExplains, same)) best.kind = SharedLinks::Kind::kNotExplained;
  }
  const auto& of_neighbours = times.at({2, 1, 1});
  best.near = of_neighbours.begin()->second;
  best.nodes = nodes;
  best.as_flows = share || ports_are_fair(times).value_or(exact);
  best.pairs_at_once = overtakes(times, one_way, eager).value_or(exact);
  best.adapter = std::max(adapter, one_way);
  for (const auto& [shift, rate] : rates) {
    if (rate > (1 + same) * alone) best.adapter = std::max(best.adapter, rate);
  }
  if (nodes == 2 && ranks == 1) best.kind = SharedLinks::Kind::kUnknown;
  return best;
}

void tell_distances(LevelModel& level, SharedLinks& links) {
  constexpr int kFar = 4, kNear = 2;  // links
  if (links.kind != SharedLinks::Kind::kTapered || level.transfer.empty()) return;
  const double far = level.send_overhead(0) + level.transfer(0) + level.receive_overhead(0);
  links.link_latency = (far - links.near) / (kFar - kNear);
  if (links.link_latency < kSame * far ||
      kFar * links.link_latency > level.transfer(0) * (1 + kSame)) {
    links.link_latency = 0;
    return;
  }
  add_latency(level, -kFar * links.link_latency);
}

std::string describe(const SharedLinks& links) {
  using Kind = SharedLinks::Kind;
  if (links.kind == Kind::kUnknown)
    return "What messages between nodes share cannot be known from two nodes with a rank each.";
  std::string text = "As measured with " + std::to_string(links.nodes) +
                     " nodes at once, messages between nodes share the adapter of each node";
  if (links.kind == Kind::kNotExplained) {
    return text + ", and more, which neither a backbone nor tapered switches explain (" +
           links.worst_shift + " is " + percent(links.worst, 0) +
           " off): name the topology (network=).";
  }
  if (links.kind == Kind::kBackbone) {
    text += ", and a backbone that all pass";
  } else if (links.kind == Kind::kTapered) {
    text += ", and what leads out of a switch of " + std::to_string(links.leaf) + " nodes";
  } else {
    text += ", nothing else";
  }
  return text + "; rates within " + percent(links.worst, 1) + ".";
}

std::string network_table(const SharedLinks& links) {
  using Kind = SharedLinks::Kind;
  const auto rate = [](double value) { return '"' + format_bandwidth(value) + '"'; };
  const auto number = [](int value) { return std::to_string(value); };
  std::string text = "\n# " + describe(links) + "\n";
  if (links.nodes < 8) text += "# Calibrate with more nodes (-n) for a better model.\n";
  if (links.kind == Kind::kUnknown) return text;
  if (links.kind == Kind::kAdapters && !links.as_flows)
    return text + "# The port of each rank (gap) represents its adapter.\n";
  const double ratio = links.adapter > 0 ? links.uplink / links.adapter : 0;
  const bool whole = std::round(ratio) >= 1 && std::abs(ratio - std::round(ratio)) < kSame * ratio;
  text += "[network]\n";
  const int leaves = links.leaf > 0 ? (links.nodes + links.leaf - 1) / links.leaf : 0;
  if (links.kind == Kind::kTapered && whole) {
    constexpr int kEnough = 128;  // switches: runs may have more nodes than took part
    text += "topology = \"fat-tree\"\ndown = [" + number(links.leaf) + ", " +
            number(std::max(leaves, kEnough)) + "]\nup = [1, " +
            number(static_cast<int>(std::round(ratio))) + "]\n";
  } else if (links.kind == Kind::kTapered) {
    text += "topology = \"graph\"\nnodes = [\"n[0-" + number(leaves * links.leaf - 1) +
            "]\"]\ncables = [\n";
    for (int i = 0; i < leaves; ++i) {
      text += "  \"n[" + number(i * links.leaf) + "-" + number((i + 1) * links.leaf - 1) + "] s" +
              number(i) + "\", \"s" + number(i) + " core " + format_bandwidth(links.uplink) +
              "\",\n";
    }
    text += "]\n";
  } else {
    text += "topology = \"crossbar\"\n";
    if (links.kind == Kind::kBackbone)
      text += "backbone_bandwidth = " + rate(links.backbone) + "\n";
  }
  // In a graph a node's limits are in the lines of its cables.
  if (links.kind == Kind::kTapered && !whole)
    text += "injection_bandwidth = " + rate(links.adapter) + "\n";
  if (links.link_latency > 0)
    text +=
        "# No part of [level.network] any more, though the ranges there hold it.\nlink_latency = "
        "\"" +
        format_seconds(links.link_latency, 4) + "\"\n";
  if (links.pairs_at_once) text += "pairs = \"at-once\"  # a short message overtakes a long one\n";
  return text + "link_bandwidth = " + rate(links.adapter) + "\n";
}

}  // namespace rubato
