#pragma once

// The loads that flows put on the links of a network.

#include <cstdint>
#include <string>
#include <vector>

#include "models/network/topology_drawing.h"

namespace rubato {

/// Seconds, bytes, and utilisation: bytes as a share of what the links could carry in that time.
struct LinkLoads {
  // `load` is the constant share of the capacity that other jobs take; `bytes` counts flows only.
  struct Kind {
    std::string name;  ///< Topology::kinds()
    int links = 0;
    double bytes = 0;              ///< over all of them
    double capacity = 0;           ///< bytes per second, likewise
    std::vector<double> by_bin{};  ///< bytes
    double load = 0;
  };
  struct Hot {
    std::string name;  ///< of a link
    double bytes = 0;
    double capacity = 0;
    double load = 0;
  };
  /// The topology with the cables that carried most, as many as a page can show.
  struct Drawing {
    TopologyDrawing shape;  ///< cables without their links
    struct Busy {
      double there = 0;  ///< seconds that the bytes take at full speed, of its busiest link
      double back = 0;
      double load = 0;  ///< the higher one of the two
    };
    std::vector<Busy> busy;  ///< by cable of `shape`
    size_t cables = 0;       ///< of the topology
  };
  static constexpr size_t kDrawnCables = 2000;
  static constexpr int kMostBins = 200;
  static constexpr size_t kHottest = 10;

  double begin = 0;  ///< when the first bin begins, in the clock of the replay
  double bin = 0;    ///< width
  double span = 0;   ///< of all flows: the elapsed time, including other jobs
  std::vector<Kind> kinds;
  Drawing drawing;  ///< empty: the topology has none
  /// The links with the highest utilisation of what constant loads leave, the highest first.
  std::vector<Hot> hottest;
  uint64_t flows = 0;   ///< that passed links
  uint64_t slowed = 0;  ///< of these, slowed by others or by a link slower than themselves
  double delay = 0;     ///< sum of their delays relative to arriving alone
};

}  // namespace rubato
