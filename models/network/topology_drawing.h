#pragma once

// A drawing of a topology: positions of nodes and switches, and the cables between them.

#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

struct TopologyDrawing {
  /// A node or a switch. Coordinates from 0 to 1, y downwards.
  struct Vertex {
    double x = 0;
    double y = 0;
    std::string name;
    bool is_node = false;
  };
  /// Parallel cables: their links from the first end to the second (`there`), and `back`. A
  /// half-duplex link is in both lists.
  struct Cable {
    uint32_t from = 0;  ///< index into `vertices`
    uint32_t to = 0;
    std::vector<uint32_t> there;
    std::vector<uint32_t> back;
    bool bends = false;  ///< a straight line would cross other vertices
  };

  std::vector<Vertex> vertices;
  std::vector<Cable> cables;
  bool is_round = false;  ///< contains circles: both axes need the same scale

  uint32_t add(double x, double y, std::string name, bool is_node = false) {
    vertices.push_back({x, y, std::move(name), is_node});
    return static_cast<uint32_t>(vertices.size() - 1);
  }
  /// Item `index` of `count` on a circle (centre, radius) from the top, clockwise.
  uint32_t add_on_circle(double x, double y, double radius, double index, double count,
                         std::string name, bool is_node = false);
};

}  // namespace rubato
