#pragma once

// Where the nodes and switches of a topology stand on paper, and what connects them.

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
  /// Cables that lie beside each other: links `there`, from the first end to the second, and
  /// `back`. A link of both directions stands in both.
  struct Cable {
    uint32_t from = 0;  ///< index into `vertices`
    uint32_t to = 0;
    std::vector<uint32_t> there;
    std::vector<uint32_t> back;
    bool bends = false;  ///< it would pass over vertices that it does not end at
  };

  std::vector<Vertex> vertices;
  std::vector<Cable> cables;
  bool is_round = false;  ///< it has circles: both axes need one scale

  uint32_t add(double x, double y, std::string name, bool is_node = false) {
    vertices.push_back({x, y, std::move(name), is_node});
    return static_cast<uint32_t>(vertices.size() - 1);
  }
  /// Item `index` of `count` on a circle (centre, radius) from the top, clockwise.
  uint32_t add_on_circle(double x, double y, double radius, double index, double count,
                         std::string name, bool is_node = false);
};

}  // namespace rubato
