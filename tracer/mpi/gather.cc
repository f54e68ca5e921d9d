#include "tracer/mpi/gather.h"

#include <algorithm>
#include <numeric>

namespace rubato {
inline namespace tracing {

std::vector<std::string> gather(MPI_Comm comm, const std::string& mine, uint64_t at_once) {
  int rank, size;
  PMPI(Comm_rank)(comm, &rank);
  PMPI(Comm_size)(comm, &size);
  const auto me = static_cast<size_t>(rank), ranks = static_cast<size_t>(size);
  std::vector<uint64_t> starts(ranks + 1);  // of the parts in the row
  uint64_t length = mine.size();
  PMPI(Allgather)
  (&length, sizeof length, handles.byte, &starts[1], sizeof length, handles.byte, comm);
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::string> parts(me == 0 ? ranks : 0);
  std::vector<int> lengths(ranks), places(ranks);
  std::string piece;
  for (uint64_t from = 0; from < starts.back(); from += at_once) {
    const uint64_t to = std::min(from + at_once, starts.back());
    for (size_t i = 0; i < ranks; ++i) {
      const uint64_t begin = std::clamp(starts[i], from, to);
      places[i] = static_cast<int>(begin - from);
      lengths[i] = static_cast<int>(std::clamp(starts[i + 1], from, to) - begin);
    }
    if (me == 0) piece.resize(to - from);
    const uint64_t sent = std::clamp(from, starts[me], starts[me + 1]) - starts[me];
    PMPI(Gatherv)
    (mine.data() + sent, lengths[me], handles.byte, piece.data(), lengths.data(), places.data(),
     handles.byte, 0, comm);
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].append(piece, static_cast<size_t>(places[i]), static_cast<size_t>(lengths[i]));
  }
  return parts;
}

std::string broadcast(MPI_Comm comm, const std::string& at_root, uint64_t at_once) {
  uint64_t size = at_root.size();
  PMPI(Bcast)(&size, sizeof size, handles.byte, 0, comm);
  std::string bytes = at_root;
  bytes.resize(size);
  for (uint64_t from = 0; from < size; from += at_once) {
    const uint64_t length = std::min(at_once, size - from);
    PMPI(Bcast)(bytes.data() + from, static_cast<int>(length), handles.byte, 0, comm);
  }
  return bytes;
}

}  // namespace tracing
}  // namespace rubato
