#pragma once

#include <algorithm>
#include <cstdint>

#include "tracer/mpi/pmpi.h"

/// The blocks of contiguous bytes that a datatype consists of. They are counted when the type is
/// committed, or else when it is first communicated, and kept by handle until that is freed.
namespace rubato {
inline namespace tracing {

/// What a number of elements of a type amounts to.
struct Data {
  uint64_t bytes;
  uint32_t block;  ///< mean length of its blocks in bytes, at most 2^32 - 1; 0: one block
};

namespace datatypes {

struct Layout {
  uint64_t size = 0;     ///< bytes of an element
  uint64_t blocks = 0;   ///< of an element
  bool joins = false;    ///< the last block of an element touches the first one of the next
  bool builtin = false;  ///< MPI's own type, whose handle stays valid
};

/// The layout of a type, which must not be MPI_DATATYPE_NULL. Does not lock if the type is known.
const Layout& of(MPI_Datatype type);
/// Call it before MPI frees the type, whose handle may be used again.
void forget(MPI_Datatype type);

}  // namespace datatypes

template <class Count>
Data data_of(Count count, MPI_Datatype type) {
  const auto n = static_cast<uint64_t>(count);
  if (const uint64_t known = library::size_in_handle(type); known != 0) return {n * known, 0};
  if (type == handles.datatype_null || n == 0) return {0, 0};
  const datatypes::Layout& layout = datatypes::of(type);
  const uint64_t bytes = n * layout.size;
  if (layout.blocks <= 1 && (layout.joins || n == 1)) [[likely]]
    return {bytes, 0};
  const uint64_t blocks = n * layout.blocks - (layout.joins ? n - 1 : 0);
  if (blocks == 0) return {bytes, 0};
  return {bytes, static_cast<uint32_t>(std::clamp<uint64_t>(bytes / blocks, 1, UINT32_MAX))};
}

}  // namespace tracing
}  // namespace rubato
