#include "models/network/topology_drawing.h"

#include <cmath>
#include <numbers>

namespace rubato {

uint32_t TopologyDrawing::add_on_circle(double x, double y, double radius, double index,
                                        double count, std::string name, bool is_node) {
  const double angle = 2 * std::numbers::pi * index / count;
  return add(x + radius * std::sin(angle), y - radius * std::cos(angle), std::move(name), is_node);
}

}  // namespace rubato
