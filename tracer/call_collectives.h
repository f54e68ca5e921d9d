#pragma once

#include <otf2/otf2.h>

#include <numeric>

#include "tracer/communicators.h"
#include "tracer/recorder.h"

/// Blocking collectives, one function per kind.
///
/// Sizes are Score-P's, which counts what a rank's data amounts to logically, itself included: with
/// N ranks and b bytes a block, an allreduce sends and receives N*b; in place, one block less. N is
/// the size of the remote group on an intercommunicator.
namespace rubato {

/// What the size formulas need: the communicator, N, and this rank.
struct Collective {
  explicit Collective(MPI_Comm comm)
      : entry(communicators::find(comm)), n(static_cast<uint64_t>(entry->peers())) {}

  uint64_t rank() const { return static_cast<uint64_t>(entry->rank); }
  /// This rank holds the root's side of the data.
  bool is_root(int root) const { return entry->inter() ? root == MPI_ROOT : root == entry->rank; }
  /// On an intercommunicator, this rank looks on while another of its group is root.
  bool looks_on(int root) const { return entry->inter() && root == MPI_PROC_NULL; }

  const Communicator* entry;
  uint64_t n;
};

template <class Count>
uint64_t bytes_of(Count count, MPI_Datatype type) {
  return static_cast<uint64_t>(count) * type_size(type);
}

template <class Count>
uint64_t sum(const Count* counts, uint64_t n) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < n; ++i) total += static_cast<uint64_t>(counts[i]);
  return total;
}

/// Sum of counts with a type each.
template <class Count>
uint64_t bytes_of(const Count* counts, const MPI_Datatype* types, uint64_t n) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (counts[i] != 0) total += bytes_of(counts[i], types[i]);
  }
  return total;
}

inline void note_collective(Call& call, unsigned op, uint32_t communicator, uint32_t root,
                            uint64_t sent, uint64_t received) {
  call.item(Item::kCollective, uint64_t{op} | uint64_t{communicator} << 8 | uint64_t{root} << 28);
  call.word(sent);
  call.word(received);
}

inline constexpr int kNoRoot = -1000000;

inline void note(Call& call, unsigned op, const Collective& c, int root, uint64_t sent,
                 uint64_t received) {
  uint32_t recorded_root = static_cast<uint32_t>(root);
  if (root == kNoRoot) {
    recorded_root = OTF2_COLLECTIVE_ROOT_NONE;
  } else if (c.entry->inter() && root == MPI_ROOT) {
    recorded_root = OTF2_COLLECTIVE_ROOT_SELF;
  } else if (c.looks_on(root)) {
    recorded_root = OTF2_COLLECTIVE_ROOT_THIS_GROUP;
  }
  if (c.entry->recordable) note_collective(call, op, c.entry->id, recorded_root, sent, received);
}

/// MPI's MPI_IN_PLACE is a cast that -Wold-style-cast and constant folding dislike; compare here.
inline bool in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

template <class Real>
int record_barrier(Call call, Real real, MPI_Comm comm) {
  const int result = real(comm);
  if (result == MPI_SUCCESS) {
    note(call, OTF2_COLLECTIVE_OP_BARRIER, Collective(comm), kNoRoot, 0, 0);
  }
  const uint64_t end = call.leave();
  if (comm == handles.world) Recorder::barrier_passed(end);
  return result;
}

template <class Real, class Count>
int record_bcast(Call call, Real real, void* buf, Count count, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  const int result = real(buf, count, type, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t b = c.looks_on(root) ? 0 : bytes_of(count, type);
    const uint64_t received = c.entry->inter() && c.is_root(root) ? 0 : b;
    note(call, OTF2_COLLECTIVE_OP_BCAST, c, root, c.is_root(root) ? c.n * b : 0, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_scatter(Call call, Real real, const void* sendbuf, Count sendcount,
                   MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  const int result = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (c.is_root(root)) sent = (c.n - in_place(recvbuf)) * bytes_of(sendcount, sendtype);
    const bool receives =
        !in_place(recvbuf) && !(c.entry->inter() && (c.is_root(root) || c.looks_on(root)));
    if (receives) received = bytes_of(recvcount, recvtype);
    note(call, OTF2_COLLECTIVE_OP_SCATTER, c, root, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count, class Displacement>
int record_scatterv(Call call, Real real, const void* sendbuf, const Count* sendcounts,
                    const Displacement* displs, MPI_Datatype sendtype, void* recvbuf,
                    Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const int result =
      real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (c.is_root(root)) {
      sent = bytes_of(sum(sendcounts, c.n), sendtype);
      if (in_place(recvbuf)) sent -= bytes_of(sendcounts[c.rank()], sendtype);
    }
    const bool receives =
        !in_place(recvbuf) && !(c.entry->inter() && (c.is_root(root) || c.looks_on(root)));
    if (receives) received = bytes_of(recvcount, recvtype);
    note(call, OTF2_COLLECTIVE_OP_SCATTERV, c, root, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_gather(Call call, Real real, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const int result = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const bool sends =
        !in_place(sendbuf) && !(c.entry->inter() && (c.is_root(root) || c.looks_on(root)));
    const uint64_t sent = sends ? bytes_of(sendcount, sendtype) : 0;
    uint64_t received = 0;
    if (c.is_root(root)) received = (c.n - in_place(sendbuf)) * bytes_of(recvcount, recvtype);
    note(call, OTF2_COLLECTIVE_OP_GATHER, c, root, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count, class Displacement>
int record_gatherv(Call call, Real real, const void* sendbuf, Count sendcount,
                   MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const int result =
      real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const bool sends =
        !in_place(sendbuf) && !(c.entry->inter() && (c.is_root(root) || c.looks_on(root)));
    const uint64_t sent = sends ? bytes_of(sendcount, sendtype) : 0;
    uint64_t received = 0;
    if (c.is_root(root)) {
      received = bytes_of(sum(recvcounts, c.n), recvtype);
      if (in_place(sendbuf)) received -= bytes_of(recvcounts[c.rank()], recvtype);
    }
    note(call, OTF2_COLLECTIVE_OP_GATHERV, c, root, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_reduce(Call call, Real real, const void* sendbuf, void* recvbuf, Count count,
                  MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, count, type, op, root, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t b = c.looks_on(root) ? 0 : bytes_of(count, type);
    const bool sends = !in_place(sendbuf) && !(c.entry->inter() && c.is_root(root));
    note(call, OTF2_COLLECTIVE_OP_REDUCE, c, root, sends ? b : 0,
         c.is_root(root) ? (c.n - in_place(sendbuf)) * b : 0);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_allreduce(Call call, Real real, const void* sendbuf, void* recvbuf, Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, count, type, op, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t all = (c.n - in_place(sendbuf)) * bytes_of(count, type);
    note(call, OTF2_COLLECTIVE_OP_ALLREDUCE, c, kNoRoot, all, all);
  }
  call.leave();
  return result;
}

/// MPI_Allgather and MPI_Alltoall count alike.
template <unsigned op, class Real, class Count>
int record_all_blocks(Call call, Real real, const void* sendbuf, Count sendcount,
                      MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                      MPI_Comm comm) {
  const int result = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t received = (c.n - in_place(sendbuf)) * bytes_of(recvcount, recvtype);
    const uint64_t sent = in_place(sendbuf) ? received : c.n * bytes_of(sendcount, sendtype);
    note(call, op, c, kNoRoot, sent, received);
  }
  call.leave();
  return result;
}
template <class... Arguments>
int record_allgather(Call call, Arguments... arguments) {
  return record_all_blocks<OTF2_COLLECTIVE_OP_ALLGATHER>(std::move(call), arguments...);
}
template <class... Arguments>
int record_alltoall(Call call, Arguments... arguments) {
  return record_all_blocks<OTF2_COLLECTIVE_OP_ALLTOALL>(std::move(call), arguments...);
}

template <class Real, class Count, class Displacement>
int record_allgatherv(Call call, Real real, const void* sendbuf, Count sendcount,
                      MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                      const Displacement* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  const int result =
      real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    uint64_t received = bytes_of(sum(recvcounts, c.n), recvtype);
    uint64_t sent = 0;
    if (in_place(sendbuf)) {
      const uint64_t own = bytes_of(recvcounts[c.rank()], recvtype);
      sent = (c.n - 1) * own;
      received -= own;
    } else {
      sent = c.n * bytes_of(sendcount, sendtype);
    }
    note(call, OTF2_COLLECTIVE_OP_ALLGATHERV, c, kNoRoot, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count, class Displacement>
int record_alltoallv(Call call, Real real, const void* sendbuf, const Count* sendcounts,
                     const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
                     const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm) {
  const int result =
      real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    uint64_t received = bytes_of(sum(recvcounts, c.n), recvtype);
    if (in_place(sendbuf)) received -= bytes_of(recvcounts[c.rank()], recvtype);
    const uint64_t sent = in_place(sendbuf) ? received : bytes_of(sum(sendcounts, c.n), sendtype);
    note(call, OTF2_COLLECTIVE_OP_ALLTOALLV, c, kNoRoot, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count, class Displacement>
int record_alltoallw(Call call, Real real, const void* sendbuf, const Count* sendcounts,
                     const Displacement* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                     const Count* recvcounts, const Displacement* rdispls,
                     const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const int result =
      real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    uint64_t received = bytes_of(recvcounts, recvtypes, c.n);
    if (in_place(sendbuf)) received -= bytes_of(recvcounts + c.rank(), recvtypes + c.rank(), 1);
    const uint64_t sent = in_place(sendbuf) ? received : bytes_of(sendcounts, sendtypes, c.n);
    note(call, OTF2_COLLECTIVE_OP_ALLTOALLW, c, kNoRoot, sent, received);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_reduce_scatter(Call call, Real real, const void* sendbuf, void* recvbuf,
                          const Count* recvcounts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, recvcounts, type, op, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    // The counts are those of this rank's own group, also on an intercommunicator.
    const auto group = static_cast<uint64_t>(c.entry->size);
    const uint64_t own = bytes_of(recvcounts[c.rank()], type);
    uint64_t sent = bytes_of(sum(recvcounts, group), type);
    if (in_place(sendbuf)) sent -= own;
    note(call, OTF2_COLLECTIVE_OP_REDUCE_SCATTER, c, kNoRoot, sent,
         (c.n - in_place(sendbuf)) * own);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_reduce_scatter_block(Call call, Real real, const void* sendbuf, void* recvbuf,
                                Count recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, recvcount, type, op, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t all = (c.n - in_place(sendbuf)) * bytes_of(recvcount, type);
    note(call, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, c, kNoRoot, all, all);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_scan(Call call, Real real, const void* sendbuf, void* recvbuf, Count count,
                MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, count, type, op, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t b = bytes_of(count, type);
    const uint64_t self = in_place(sendbuf) ? 0 : 1;
    note(call, OTF2_COLLECTIVE_OP_SCAN, c, kNoRoot, (c.n - c.rank() - 1 + self) * b,
         (c.rank() + self) * b);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_exscan(Call call, Real real, const void* sendbuf, void* recvbuf, Count count,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = real(sendbuf, recvbuf, count, type, op, comm);
  if (result == MPI_SUCCESS) {
    const Collective c(comm);
    const uint64_t b = bytes_of(count, type);
    note(call, OTF2_COLLECTIVE_OP_EXSCAN, c, kNoRoot, (c.n - c.rank() - 1) * b, c.rank() * b);
  }
  call.leave();
  return result;
}

}  // namespace rubato
