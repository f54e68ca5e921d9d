#pragma once

#include <string>
#include <vector>

#include "tracer/base/packing.h"

namespace rubato {
inline namespace tracing {

/// The neighbours of a process in a communicator with a topology, as ranks of that communicator in
/// MPI's order; -1 at the edges of a grid.
struct Topology {
  std::vector<int> sources;
  std::vector<int> destinations;
  // Of a grid only:
  std::vector<int> dimensions;
  std::vector<int> periods;
  std::vector<int> coordinates;

  void pack(Packer& packer) const;
  static Topology unpack(Unpacker& from);
  /// "from 1 - to 3 1": a line for the archive.
  std::string text() const;
};

}  // namespace tracing
}  // namespace rubato
