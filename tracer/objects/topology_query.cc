#include "tracer/objects/topology_query.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Per dimension first the neighbour below, then the one above; each is source and destination.
void read_grid(MPI_Comm comm, Topology& topology) {
  int n = 0;
  PMPI(Cartdim_get)(comm, &n);
  const auto dimensions = static_cast<size_t>(n);
  topology.dimensions.resize(dimensions);
  topology.periods.resize(dimensions);
  topology.coordinates.resize(dimensions);
  PMPI(Cart_get)
  (comm, n, topology.dimensions.data(), topology.periods.data(), topology.coordinates.data());
  for (int i = 0; i < n; ++i) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    PMPI(Cart_shift)(comm, i, 1, &below, &above);
    for (const int neighbour : {below, above}) {
      topology.sources.push_back(neighbour == MPI_PROC_NULL ? -1 : neighbour);
    }
  }
  topology.destinations = topology.sources;
}

void read_graph(MPI_Comm comm, int rank, Topology& topology) {
  int n = 0;
  PMPI(Graph_neighbors_count)(comm, rank, &n);
  topology.sources.resize(static_cast<size_t>(n));
  PMPI(Graph_neighbors)(comm, rank, n, topology.sources.data());
  topology.destinations = topology.sources;
}

void read_distributed_graph(MPI_Comm comm, Topology& topology) {
  int in = 0, out = 0, weighted = 0;
  PMPI(Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
  topology.sources.resize(static_cast<size_t>(in));
  topology.destinations.resize(static_cast<size_t>(out));
  std::vector<int> source_weights(topology.sources.size() + 1);
  std::vector<int> destination_weights(topology.destinations.size() + 1);
  PMPI(Dist_graph_neighbors)
  (comm, in, topology.sources.data(), source_weights.data(), out, topology.destinations.data(),
   destination_weights.data());
}

}  // namespace

std::shared_ptr<const Topology> topology_of(MPI_Comm comm, int rank) {
  if (!library::kHasParentsAndTopologies) return nullptr;
  int kind = MPI_UNDEFINED;
  PMPI(Topo_test)(comm, &kind);
  if (kind == MPI_UNDEFINED) return nullptr;
  auto topology = std::make_shared<Topology>();
  if (kind == MPI_CART) {
    read_grid(comm, *topology);
  } else if (kind == MPI_GRAPH) {
    read_graph(comm, rank, *topology);
  } else {
    read_distributed_graph(comm, *topology);
  }
  return topology;
}

}  // namespace tracing
}  // namespace rubato
