#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// All participating ranks send and receive at once.
struct Shift {
  enum class Form : uint8_t {
    kShift,    ///< node i sends to node (i + shift) mod nodes
    kInOrder,  ///< each node sends a message to every other one, in the order of their numbers
    kInTurn,   ///< the same, beginning with the next node
    /// A node sends a long message and behind it a short one, of kShort of its bytes; the time
    /// until the short one has arrived, with an answer without bytes.
    kOvertaking,
  };
  static constexpr double kShort = 0.125;

  int nodes = 2;
  int shift = 1;
  int ranks = 1;  ///< of each node
  Form form = Form::kShift;

  auto operator<=>(const Shift&) const = default;
  /// Name in files of samples: "shift_8_of_16", or "shift_8_of_16_by_4" for four ranks a node;
  /// "all_in_order_of_16", "all_in_turn_of_16", "short_behind_long".
  std::string name() const;
};

/// The most nodes of Form::kInOrder and Form::kInTurn.
inline constexpr int kMostSpread = 16;

/// The shift of that name; none for other patterns.
std::optional<Shift> shift_named(const std::string& pattern);

/// The shifts that a calibration of this many nodes, with at least `ranks_per_node` ranks on each,
/// measures: growing numbers of nodes at the largest distance, all nodes at growing distances, and
/// then all ranks of two nodes and of all nodes; at last the other forms. Empty for a single node.
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
  /// Messages share adapters as flows: those of a node's ranks were measured to share one, or those
  /// of a rank to share its port (ports_are_fair()); else it is a simulator. Otherwise the ports of
  /// ranks represent adapters, and messages pass them in order.
  bool as_flows = false;
  /// Messages from one rank to another share it, too: a short one overtakes a long one.
  bool pairs_at_once = false;
};

/// True if messages share ports as flows: several that a rank sends at once, and several that
/// it receives; false if they pass ports in the order in which they are sent. If n nodes send to
/// all others in the order of their numbers, the last one gets its n - 1 messages behind all
/// others: in ports with an order they take 2 n - 3 times as long as one message, in fair ports n -
/// 1 times, as in turn. None if this was not measured with three nodes or more, or with messages
/// too short to fill a port.
std::optional<bool> ports_are_fair(const ShiftTimes& times);

/// The simplest network that explains the rates of all shifts, from the growth of their times
/// between the two longest messages: adapters only; a backbone whose rate all nodes share, whatever
/// their distance; or switches whose uplinks are shared by the messages that leave them. Rates
/// within 5 % are considered equal without noise (`exact`, a simulator), else within 5 % and five
/// times the relative error of a time (`noise`), at most 25 %: the slowest of many ranks counts,
/// and one of them is always disturbed. `eager`: the longest message that is sent eagerly, if
/// known; with it SharedLinks::pairs_at_once is found out. `one_way` is the rate of a long message
/// alone: two nodes that send to each other may be slower for other reasons, and one rank on each
/// of two nodes is not conclusive (kUnknown). None if two nodes were not measured at two lengths.
std::optional<SharedLinks> fit_shared_links(const ShiftTimes& times, double one_way, bool exact,
                                            double noise = 1, std::optional<double> eager = {});

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
