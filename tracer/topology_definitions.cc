#include "tracer/topology_definitions.h"

#include "tracer/gather.h"

namespace rubato {
namespace {

void pack(Packer& packer, const Communicator& c, uint32_t global_id) {
  packer.put(global_id);
  packer.put(static_cast<uint64_t>(c.rank));
  packer.put(c.self_like());
  const Topology& t = *c.topology;
  for (const auto* list :
       {&t.sources, &t.destinations, &t.dimensions, &t.periods, &t.coordinates}) {
    packer.put(*list);
  }
}

TopologyDefinition unpack(Unpacker& from, uint32_t world_rank) {
  TopologyDefinition definition;
  definition.world_rank = world_rank;
  definition.communicator = static_cast<uint32_t>(from.value());
  definition.rank = static_cast<uint32_t>(from.value());
  definition.self_like = from.value() != 0;
  Topology& t = definition.topology;
  for (auto* list : {&t.sources, &t.destinations, &t.dimensions, &t.periods, &t.coordinates}) {
    *list = from.list();
  }
  return definition;
}

std::string list_text(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) {
    text += rank == MPI_PROC_NULL ? " -" : " " + std::to_string(rank);
  }
  return text;
}

}  // namespace

std::string neighbours_text(const Topology& topology) {
  return "from" + list_text(topology.sources) + " to" + list_text(topology.destinations);
}

void collect_topologies(MPI_Comm comm, Definitions& definitions) {
  Packer packer;
  size_t count = 0;
  for (const Communicator* c : communicators::all()) {
    const uint32_t global_id = definitions.global_id[c->id];
    if (c->topology == nullptr || global_id == kNone) continue;
    ++count;
    pack(packer, *c, global_id);
  }
  Packer counted;
  counted.put(count);
  const auto parts = gather(comm, counted.bytes() + packer.bytes());
  for (uint32_t rank = 0; rank < parts.size(); ++rank) {
    Unpacker from(parts[rank]);
    for (size_t left = from.value(); left > 0; --left) {
      definitions.topologies.push_back(unpack(from, rank));
    }
  }
}

}  // namespace rubato
