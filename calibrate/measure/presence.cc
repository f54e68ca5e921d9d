#include "calibrate/measure/presence.h"

#include <hwloc.h>
#include <unistd.h>

namespace rubato {
namespace {

/// The socket with all cores that this process may use; kNoSocket if they are on several sockets,
/// or if hwloc does not know.
int own_socket() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return kNoSocket;
  int socket = kNoSocket;
  const hwloc_cpuset_t cores = hwloc_bitmap_alloc();
  if (cores && hwloc_topology_load(topology) == 0 &&
      hwloc_get_cpubind(topology, cores, HWLOC_CPUBIND_PROCESS) == 0) {
    const hwloc_obj_t package =
        hwloc_get_next_obj_covering_cpuset_by_type(topology, cores, HWLOC_OBJ_PACKAGE, nullptr);
    // The system's number: logical numbers differ between ranks that see different sockets.
    if (package && package->os_index != HWLOC_UNKNOWN_INDEX &&
        hwloc_bitmap_isincluded(cores, package->cpuset))
      socket = static_cast<int>(package->os_index);
  }
  hwloc_bitmap_free(cores);
  hwloc_topology_destroy(topology);
  return socket;
}

}  // namespace

void sleep_until_all_are_here(MPI_Comm comm) {
  constexpr useconds_t kNap = 2000;  // microseconds
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  int done = 0;
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    usleep(kNap);
  }
}

std::vector<int> nodes_of_ranks(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> leaders(static_cast<size_t>(ranks));
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm);
  return leaders;
}

Placement places_of_ranks(MPI_Comm comm) {
  const std::vector<int> nodes = nodes_of_ranks(comm);
  const int own = own_socket();
  std::vector<int> sockets(nodes.size());
  MPI_Allgather(&own, 1, MPI_INT, sockets.data(), 1, MPI_INT, comm);
  return Placement(nodes, sockets);
}

}  // namespace rubato
