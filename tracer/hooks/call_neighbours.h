#pragma once

#include "tracer/hooks/call_collectives.h"
#include "tracer/layout/topology.h"

/// Collectives among neighbours. OTF2 has no operation for them, so their bytes are attributes of
/// the call's Enter record, and the start and end of a request are parameters. Only existing
/// neighbours count.
namespace rubato {
inline namespace tracing {

struct NeighbourUse {
  const Communicator* entry;
  uint64_t sent = 0;
  uint64_t received = 0;

  bool known() const { return entry->recordable && entry->topology != nullptr; }
};

/// Sums `bytes(i)` over the neighbours that exist.
template <class Bytes>
uint64_t over_neighbours(const std::vector<int>& neighbours, Bytes bytes) {
  uint64_t total = 0;
  for (size_t i = 0; i < neighbours.size(); ++i) {
    if (neighbours[i] >= 0) total += bytes(i);
  }
  return total;
}

/// Sent and received bytes by the functions of the number of a neighbour.
template <class Sent, class Received>
NeighbourUse neighbour_use(MPI_Comm comm, Sent sent, Received received) {
  NeighbourUse use{communicators::find(comm)};
  if (use.entry->topology == nullptr) return use;
  use.sent = over_neighbours(use.entry->topology->destinations, sent);
  use.received = over_neighbours(use.entry->topology->sources, received);
  return use;
}

/// MPI_Neighbor_allgather and MPI_Neighbor_alltoall.
struct NeighbourBlocks {
  template <class Count, class... Rest>
  static NeighbourUse of(const void*, Count sendcount, MPI_Datatype sendtype, void*,
                         Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, Rest...) {
    return neighbour_use(
        comm, [&](size_t) { return bytes_of(sendcount, sendtype); },
        [&](size_t) { return bytes_of(recvcount, recvtype); });
  }
};
struct NeighbourAllgatherv {
  template <class Count, class Displacement, class... Rest>
  static NeighbourUse of(const void*, Count sendcount, MPI_Datatype sendtype, void*,
                         const Count* recvcounts, const Displacement*, MPI_Datatype recvtype,
                         MPI_Comm comm, Rest...) {
    return neighbour_use(
        comm, [&](size_t) { return bytes_of(sendcount, sendtype); },
        [&](size_t i) { return bytes_of(recvcounts[i], recvtype); });
  }
};
struct NeighbourAlltoallv {
  template <class Count, class Displacement, class... Rest>
  static NeighbourUse of(const void*, const Count* sendcounts, const Displacement*,
                         MPI_Datatype sendtype, void*, const Count* recvcounts, const Displacement*,
                         MPI_Datatype recvtype, MPI_Comm comm, Rest...) {
    return neighbour_use(
        comm, [&](size_t i) { return bytes_of(sendcounts[i], sendtype); },
        [&](size_t i) { return bytes_of(recvcounts[i], recvtype); });
  }
};
struct NeighbourAlltoallw {
  template <class Count, class Displacement, class... Rest>
  static NeighbourUse of(const void*, const Count* sendcounts, const Displacement*,
                         const MPI_Datatype* sendtypes, void*, const Count* recvcounts,
                         const Displacement*, const MPI_Datatype* recvtypes, MPI_Comm comm,
                         Rest...) {
    return neighbour_use(
        comm, [&](size_t i) { return bytes_of(sendcounts + i, sendtypes + i, 1); },
        [&](size_t i) { return bytes_of(recvcounts + i, recvtypes + i, 1); });
  }
};

/// `request` is 0 for a blocking call.
inline void note_neighbours(Call& call, Item item, const NeighbourUse& use, uint64_t request) {
  call.item(item, use.entry->id);
  call.word(use.sent);
  call.word(use.received);
  call.word(request);
}

template <class Operation, class Real, class... Arguments>
int record_neighbours(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const NeighbourUse use = Operation::of(arguments...);
    if (use.known()) note_neighbours(call, Item::kNeighbours, use, 0);
  }
  call.leave();
  return result;
}

template <class Operation, class Real, class... Arguments>
int record_ineighbours(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const NeighbourUse use = Operation::of(arguments...);
    Request request;
    if (use.known()) {
      request.kind = RequestKind::kNeighbours;
      request.number = call.next_request();
      note_neighbours(call, Item::kNeighboursPosted, use, request.number);
    }
    requests::add(*last_of(arguments...), request);
  }
  call.leave();
  return result;
}

template <class Operation, class Real, class... Arguments>
int record_neighbours_init(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const NeighbourUse use = Operation::of(arguments...);
    Request request;
    if (use.known()) {
      request.kind = RequestKind::kNeighbours;
      request.number = requests::next_persistent_number(call.log().number);
      note_neighbours(call, Item::kNeighbours, use, request.number);
    }
    request.persistent = true;
    request.active = false;
    requests::add(*last_of(arguments...), request);
  }
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
