#include "tracer/layout/topology.h"

namespace rubato {
inline namespace tracing {
namespace {

std::string list_text(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += rank < 0 ? " -" : " " + std::to_string(rank);
  return text;
}

}  // namespace

void Topology::pack(Packer& packer) const {
  for (const auto* list : {&sources, &destinations, &dimensions, &periods, &coordinates}) {
    packer.put(*list);
  }
}

Topology Topology::unpack(Unpacker& from) {
  Topology t;
  for (auto* list : {&t.sources, &t.destinations, &t.dimensions, &t.periods, &t.coordinates}) {
    *list = from.list();
  }
  return t;
}

std::string Topology::text() const {
  return "from" + list_text(sources) + " to" + list_text(destinations);
}

}  // namespace tracing
}  // namespace rubato
