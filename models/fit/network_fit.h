#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// All participating ranks send and receive at once: node i sends to node (i + shift) mod nodes.
struct Shift {
  int nodes = 2;
  int shift = 1;
  int ranks = 1;  ///< of each node

  auto operator<=>(const Shift&) const = default;
  /// Name in files of samples: "shift_8_of_16", or "shift_8_of_16_by_4" for four ranks a node.
  std::string name() const;
};

/// The shift of that name; none for other patterns.
std::optional<Shift> shift_named(const std::string& pattern);

/// The shifts that a calibration of this many nodes, with at least `ranks_per_node` ranks on each,
/// measures: growing numbers of nodes at the largest distance, all nodes at growing distances, and
/// then all ranks of two nodes and of all nodes. Empty for a single node.
std::vector<Shift> shifts_to_measure(int nodes, int ranks_per_node);

/// Seconds of a step of a shift, by bytes of a message.
using ShiftTimes = std::map<Shift, std::map<double, double>>;

/// The resources that messages between nodes share, inferred from the shifts.
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
  /// Messages of a node's ranks share its adapter as flows: this was measured, or it is a
  /// simulator. Otherwise the ports of ranks represent adapters.
  bool as_flows = false;
  bool exact = false;  ///< without noise: a simulator, in which messages of a pair share, too
};

/// The simplest network that explains the rates of all shifts, from the growth of their times
/// between the two longest messages: adapters only; a backbone whose rate all nodes share, whatever
/// their distance; or switches whose uplinks are shared by the messages that leave them. Rates
/// within 5 % are considered equal without noise (`exact`), else within 25 %, since the slowest of
/// many ranks counts and one of them is always disturbed. `one_way` is the rate of a long message
/// alone: two nodes that send to each other may be slower for other reasons, and one rank on each
/// of two nodes is not conclusive (kUnknown). None if two nodes were not measured at two lengths.
std::optional<SharedLinks> fit_shared_links(const ShiftTimes& times, double one_way, bool exact);

/// Moves the latency of links out of the latency of the level, which was measured between two nodes
/// that are four links apart (neighbours are two links apart). Only for switches (kTapered).
void tell_distances(LevelModel& level, SharedLinks& links);

/// "As measured with 16 nodes at once, messages between nodes share the adapter of each node,
/// nothing else; rates within 2.0 %."
std::string describe(const SharedLinks& links);

/// The table [network] of a platform file, with describe() as its comment; only the comment for
/// kUnknown, and for adapters that ports represent (not as_flows).
std::string network_table(const SharedLinks& links);

}  // namespace rubato
