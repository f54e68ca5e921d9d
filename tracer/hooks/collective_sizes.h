#pragma once

#include <otf2/otf2.h>

#include "tracer/layout/record.h"
#include "tracer/objects/communicators.h"

/// The sizes and root of each collective operation for this rank, from the arguments of its call:
/// one structure per operation, whose `of` serves the blocking, nonblocking and persistent forms
/// alike (arguments behind the communicator are ignored). To be called after MPI accepted the call,
/// so that the arguments are valid.
///
/// Sizes are Score-P's logical bytes, the rank itself included: with N ranks and b bytes a block,
/// an allreduce sends and receives N*b; in place, one block less. N is the size of the remote group
/// on an intercommunicator.
namespace rubato {
inline namespace tracing {

/// A collective operation in OTF2's terms.
struct CollectiveUse {
  const Communicator* entry;
  unsigned op;  ///< OTF2's; kCollectiveInPlace may be set
  uint32_t root;
  uint64_t sent;
  uint64_t received;

  /// The same with kCollectiveInPlace set if this rank named MPI_IN_PLACE.
  CollectiveUse here(bool in_place) const {
    CollectiveUse use = *this;
    if (in_place) use.op |= kCollectiveInPlace;
    return use;
  }
};

/// Inputs of the size formulas: the communicator, N, and this rank.
struct Collective {
  explicit Collective(MPI_Comm comm)
      : entry(communicators::find(comm)), n(static_cast<uint64_t>(entry->peers())) {}

  uint64_t rank() const { return static_cast<uint64_t>(entry->rank); }
  /// This rank holds the root's side of the data.
  bool is_root(int root) const { return entry->inter() ? root == MPI_ROOT : root == entry->rank; }
  /// On an intercommunicator: another member of this rank's group is root.
  bool looks_on(int root) const { return entry->inter() && root == MPI_PROC_NULL; }
  /// This rank sends to, or receives from, a root; within a group all ranks do, the root included.
  bool faces(int root) const { return !entry->inter() || !(is_root(root) || looks_on(root)); }

  CollectiveUse use(unsigned op, uint64_t sent, uint64_t received) const {
    return {entry, op, OTF2_COLLECTIVE_ROOT_NONE, sent, received};
  }
  CollectiveUse use(unsigned op, int root, uint64_t sent, uint64_t received) const {
    auto recorded = static_cast<uint32_t>(root);
    if (entry->inter() && root == MPI_ROOT) {
      recorded = OTF2_COLLECTIVE_ROOT_SELF;
    } else if (looks_on(root)) {
      recorded = OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    }
    return {entry, op, recorded, sent, received};
  }

  const Communicator* entry;
  uint64_t n;
};

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

/// MPI's MPI_IN_PLACE is a cast that -Wold-style-cast and constant folding dislike; compare here.
inline bool in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

/// The parts of an operation: `bytes(i)` to the i-th peer. An operation has a function `parts` if
/// its parts do not follow from the records of the other members, or not by the time the replay
/// needs them.
///
/// MPI_Alltoallv and MPI_Alltoallw have parts on each rank; received parts are the sent parts of
/// the others, since MPI demands equal amounts on both sides. The root of MPI_Scatterv has parts
/// although each receiver records its own: the root may leave before the receivers arrive, so its
/// cost has to be known before their records are read. All other parts follow in time from sums:
/// the root of MPI_Gatherv waits for members whose sent bytes are their parts; in MPI_Allgatherv
/// and MPI_Reduce_scatter all wait for all, and each records its own part times the number of
/// members.
template <class Bytes>
struct Parts {
  uint64_t peers;  ///< 0: this rank has none
  Bytes bytes;
};
template <class Bytes>
Parts(uint64_t, Bytes) -> Parts<Bytes>;

struct Barrier {
  template <class... Rest>
  static CollectiveUse of(MPI_Comm comm, Rest...) {
    return Collective(comm).use(OTF2_COLLECTIVE_OP_BARRIER, 0, 0);
  }
};

struct Bcast {
  template <class Count, class... Rest>
  static CollectiveUse of(void*, Count count, MPI_Datatype type, int root, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t b = c.looks_on(root) ? 0 : bytes_of(count, type);
    const uint64_t received = c.entry->inter() && c.is_root(root) ? 0 : b;
    return c.use(OTF2_COLLECTIVE_OP_BCAST, root, c.is_root(root) ? c.n * b : 0, received);
  }
};

struct Scatter {
  template <class Count, class... Rest>
  static CollectiveUse of(const void*, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          Rest...) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (c.is_root(root)) sent = (c.n - in_place(recvbuf)) * bytes_of(sendcount, sendtype);
    if (!in_place(recvbuf) && c.faces(root)) received = bytes_of(recvcount, recvtype);
    return c.use(OTF2_COLLECTIVE_OP_SCATTER, root, sent, received)
        .here(c.is_root(root) && in_place(recvbuf));
  }
};

struct Scatterv {
  template <class Count, class Displacement, class... Rest>
  static CollectiveUse of(const void*, const Count* sendcounts, const Displacement*,
                          MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (c.is_root(root)) {
      sent = bytes_of(sum(sendcounts, c.n), sendtype);
      if (in_place(recvbuf)) sent -= bytes_of(sendcounts[c.rank()], sendtype);
    }
    if (!in_place(recvbuf) && c.faces(root)) received = bytes_of(recvcount, recvtype);
    return c.use(OTF2_COLLECTIVE_OP_SCATTERV, root, sent, received)
        .here(c.is_root(root) && in_place(recvbuf));
  }

  template <class Count, class Displacement, class... Rest>
  static auto parts(const void*, const Count* sendcounts, const Displacement*,
                    MPI_Datatype sendtype, void* recvbuf, Count, MPI_Datatype, int root,
                    MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const bool root_here = c.is_root(root);
    const uint64_t size = root_here ? type_size(sendtype) : 0;
    const uint64_t left_out = in_place(recvbuf) && root_here ? c.rank() : UINT64_MAX;
    return Parts{root_here ? c.n : 0, [=](uint64_t i) {
                   return i == left_out ? 0 : static_cast<uint64_t>(sendcounts[i]) * size;
                 }};
  }
};

struct Gather {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void*,
                          Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          Rest...) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (!in_place(sendbuf) && c.faces(root)) sent = bytes_of(sendcount, sendtype);
    if (c.is_root(root)) received = (c.n - in_place(sendbuf)) * bytes_of(recvcount, recvtype);
    return c.use(OTF2_COLLECTIVE_OP_GATHER, root, sent, received)
        .here(c.is_root(root) && in_place(sendbuf));
  }
};

struct Gatherv {
  template <class Count, class Displacement, class... Rest>
  static CollectiveUse of(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void*,
                          const Count* recvcounts, const Displacement*, MPI_Datatype recvtype,
                          int root, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    uint64_t sent = 0;
    uint64_t received = 0;
    if (!in_place(sendbuf) && c.faces(root)) sent = bytes_of(sendcount, sendtype);
    if (c.is_root(root)) {
      received = bytes_of(sum(recvcounts, c.n), recvtype);
      if (in_place(sendbuf)) received -= bytes_of(recvcounts[c.rank()], recvtype);
    }
    return c.use(OTF2_COLLECTIVE_OP_GATHERV, root, sent, received)
        .here(c.is_root(root) && in_place(sendbuf));
  }
};

struct Reduce {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, void*, Count count, MPI_Datatype type, MPI_Op,
                          int root, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t b = c.looks_on(root) ? 0 : bytes_of(count, type);
    const bool sends = !in_place(sendbuf) && !(c.entry->inter() && c.is_root(root));
    return c
        .use(OTF2_COLLECTIVE_OP_REDUCE, root, sends ? b : 0,
             c.is_root(root) ? (c.n - in_place(sendbuf)) * b : 0)
        .here(c.is_root(root) && in_place(sendbuf));
  }
};

struct Allreduce {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, void*, Count count, MPI_Datatype type, MPI_Op,
                          MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t all = (c.n - in_place(sendbuf)) * bytes_of(count, type);
    return c.use(OTF2_COLLECTIVE_OP_ALLREDUCE, all, all).here(in_place(sendbuf));
  }
};

/// MPI_Allgather and MPI_Alltoall count alike.
template <unsigned op>
struct AllBlocks {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void*,
                          Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t received = (c.n - in_place(sendbuf)) * bytes_of(recvcount, recvtype);
    const uint64_t sent = in_place(sendbuf) ? received : c.n * bytes_of(sendcount, sendtype);
    return c.use(op, sent, received).here(in_place(sendbuf));
  }
};
using Allgather = AllBlocks<OTF2_COLLECTIVE_OP_ALLGATHER>;
using Alltoall = AllBlocks<OTF2_COLLECTIVE_OP_ALLTOALL>;

struct Allgatherv {
  template <class Count, class Displacement, class... Rest>
  static CollectiveUse of(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void*,
                          const Count* recvcounts, const Displacement*, MPI_Datatype recvtype,
                          MPI_Comm comm, Rest...) {
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
    return c.use(OTF2_COLLECTIVE_OP_ALLGATHERV, sent, received).here(in_place(sendbuf));
  }
};

struct Alltoallv {
  template <class Count, class Displacement, class... Rest>
  static CollectiveUse of(const void* sendbuf, const Count* sendcounts, const Displacement*,
                          MPI_Datatype sendtype, void*, const Count* recvcounts,
                          const Displacement*, MPI_Datatype recvtype, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    uint64_t received = bytes_of(sum(recvcounts, c.n), recvtype);
    if (in_place(sendbuf)) received -= bytes_of(recvcounts[c.rank()], recvtype);
    const uint64_t sent = in_place(sendbuf) ? received : bytes_of(sum(sendcounts, c.n), sendtype);
    return c.use(OTF2_COLLECTIVE_OP_ALLTOALLV, sent, received).here(in_place(sendbuf));
  }

  template <class Count, class Displacement, class... Rest>
  static auto parts(const void* sendbuf, const Count* sendcounts, const Displacement*,
                    MPI_Datatype sendtype, void*, const Count* recvcounts, const Displacement*,
                    MPI_Datatype recvtype, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const bool same = in_place(sendbuf);  // then as much is sent to a peer as is received from it
    const Count* counts = same ? recvcounts : sendcounts;
    const uint64_t size = type_size(same ? recvtype : sendtype);
    const uint64_t left_out = same ? c.rank() : UINT64_MAX;
    return Parts{c.n, [=](uint64_t i) {
                   return i == left_out ? 0 : static_cast<uint64_t>(counts[i]) * size;
                 }};
  }
};

struct Alltoallw {
  template <class Count, class Displacement, class... Rest>
  static CollectiveUse of(const void* sendbuf, const Count* sendcounts, const Displacement*,
                          const MPI_Datatype* sendtypes, void*, const Count* recvcounts,
                          const Displacement*, const MPI_Datatype* recvtypes, MPI_Comm comm,
                          Rest...) {
    const Collective c(comm);
    uint64_t received = bytes_of(recvcounts, recvtypes, c.n);
    if (in_place(sendbuf)) received -= bytes_of(recvcounts + c.rank(), recvtypes + c.rank(), 1);
    const uint64_t sent = in_place(sendbuf) ? received : bytes_of(sendcounts, sendtypes, c.n);
    return c.use(OTF2_COLLECTIVE_OP_ALLTOALLW, sent, received).here(in_place(sendbuf));
  }

  template <class Count, class Displacement, class... Rest>
  static auto parts(const void* sendbuf, const Count* sendcounts, const Displacement*,
                    const MPI_Datatype* sendtypes, void*, const Count* recvcounts,
                    const Displacement*, const MPI_Datatype* recvtypes, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const bool same = in_place(sendbuf);
    const Count* counts = same ? recvcounts : sendcounts;
    const MPI_Datatype* types = same ? recvtypes : sendtypes;
    const uint64_t left_out = same ? c.rank() : UINT64_MAX;
    return Parts{
        c.n, [=](uint64_t i) { return i == left_out ? 0 : bytes_of(counts + i, types + i, 1); }};
  }
};

struct ReduceScatter {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, void*, const Count* recvcounts, MPI_Datatype type,
                          MPI_Op, MPI_Comm comm, Rest...) {
    const Collective c(comm);
    // The counts are those of this rank's own group, also on an intercommunicator.
    const auto group = static_cast<uint64_t>(c.entry->size);
    const uint64_t own = bytes_of(recvcounts[c.rank()], type);
    uint64_t sent = bytes_of(sum(recvcounts, group), type);
    if (in_place(sendbuf)) sent -= own;
    const uint64_t received = (c.n - in_place(sendbuf)) * own;
    return c.use(OTF2_COLLECTIVE_OP_REDUCE_SCATTER, sent, received).here(in_place(sendbuf));
  }
};

struct ReduceScatterBlock {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, void*, Count recvcount, MPI_Datatype type, MPI_Op,
                          MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t all = (c.n - in_place(sendbuf)) * bytes_of(recvcount, type);
    return c.use(OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, all, all).here(in_place(sendbuf));
  }
};

struct Scan {
  template <class Count, class... Rest>
  static CollectiveUse of(const void* sendbuf, void*, Count count, MPI_Datatype type, MPI_Op,
                          MPI_Comm comm, Rest...) {
    const Collective c(comm);
    const uint64_t b = bytes_of(count, type);
    const uint64_t self = in_place(sendbuf) ? 0 : 1;
    return c.use(OTF2_COLLECTIVE_OP_SCAN, (c.n - c.rank() - 1 + self) * b, (c.rank() + self) * b)
        .here(self == 0);
  }
};

struct Exscan {
  template <class Count, class... Rest>
  static CollectiveUse of(const void*, void*, Count count, MPI_Datatype type, MPI_Op, MPI_Comm comm,
                          Rest...) {
    const Collective c(comm);
    const uint64_t b = bytes_of(count, type);
    return c.use(OTF2_COLLECTIVE_OP_EXSCAN, (c.n - c.rank() - 1) * b, c.rank() * b);
  }
};

}  // namespace tracing
}  // namespace rubato
