#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// All ranks that take part send to those `shift` nodes further on, and receive from those before,
/// at once: node i talks to node (i + shift) mod nodes.
struct Shift {
  int nodes = 2;
  int shift = 1;
  int ranks = 1;  ///< of each node

  auto operator<=>(const Shift&) const = default;
  /// "shift_8_of_16", or "shift_8_of_16_by_4" for four ranks a node: what a file of samples calls
  /// it.
  std::string name() const;
};

/// The shift of that name; none for other patterns.
std::optional<Shift> shift_named(const std::string& pattern);

/// What a calibration of so many nodes, with at least so many ranks on each, measures: growing
/// numbers of nodes at the largest distance, all nodes at growing distances, and then all ranks of
/// two nodes and of all. Empty for a single node.
std::vector<Shift> shifts_to_measure(int nodes, int ranks_per_node);

/// Seconds of a step of a shift, by bytes of a message.
using ShiftTimes = std::map<Shift, std::map<double, double>>;

/// What messages share between nodes, as far as the shifts tell.
struct SharedLinks {
  enum class Kind { kUnknown, kAdapters, kBackbone, kTapered, kNotExplained };
  Kind kind = Kind::kAdapters;
  int nodes = 0;            ///< that took part
  double adapter = 0;       ///< bytes per second and direction of a node
  double backbone = 0;      ///< bytes per second of all nodes together (kBackbone)
  int leaf = 0;             ///< nodes of a switch (kTapered)
  double uplink = 0;        ///< bytes per second and direction of such a switch (kTapered)
  double near = 0;          ///< seconds of the shortest message between neighbours
  double link_latency = 0;  ///< seconds of each link that a message passes (kTapered)
  double worst = 0;         ///< the largest relative error of a shift's rate
  std::string worst_shift;  ///< which one that is
  /// Messages share the adapter of a node as flows: those of its ranks, as measured; or a simulator
  /// was. The ports of ranks stand for an adapter that each rank has for itself.
  bool as_flows = false;
  bool exact = false;  ///< nothing was noisy: a simulator, in which messages of a pair share, too
};

/// The least network that explains the rates of all shifts, from the growth of their times between
/// the two longest messages: adapters alone; with a backbone, whose rate the nodes share whatever
/// their distance; or with switches whose uplinks shifts share that leave them. Rates within 5 %
/// are one where nothing is noisy (`exact`), else within 25 %: the slowest of many ranks counts,
/// and something always disturbs one of them. `one_way` is the rate of a long message that is
/// alone: two nodes that send to each other may be slower for reasons of their own, and one rank on
/// each of two nodes says nothing (kUnknown). None where two nodes have no two lengths.
std::optional<SharedLinks> fit_shared_links(const ShiftTimes& times, double one_way, bool exact);

/// Takes the latency of links out of that of the level, which was measured between two nodes that
/// are four links apart: neighbours are two. Only of switches (kTapered).
void tell_distances(LevelModel& level, SharedLinks& links);

/// "As measured with 16 nodes at once, messages between nodes share the adapter of each node,
/// nothing else; rates within 2.0 %."
std::string describe(const SharedLinks& links);

/// The table [network] of a platform file, with describe() as its comment; that alone of kUnknown,
/// and where ports say the same (as_flows).
std::string network_table(const SharedLinks& links);

}  // namespace rubato
