#include "tracer/mpi/gather.h"

namespace rubato {
inline namespace tracing {

std::vector<std::string> gather(MPI_Comm comm, const std::string& mine) {
  int rank, size;
  PMPI(Comm_rank)(comm, &rank);
  PMPI(Comm_size)(comm, &size);
  int length = static_cast<int>(mine.size());
  const auto parts_here = static_cast<size_t>(rank == 0 ? size : 0);
  std::vector<int> lengths(parts_here), starts(parts_here);
  PMPI(Gather)
  (&length, sizeof length, handles.byte, lengths.data(), sizeof length, handles.byte, 0, comm);
  size_t total = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    starts[i] = static_cast<int>(total);
    total += static_cast<size_t>(lengths[i]);
  }
  std::string all(total, '\0');
  PMPI(Gatherv)
  (mine.data(), length, handles.byte, all.data(), lengths.data(), starts.data(), handles.byte, 0,
   comm);
  std::vector<std::string> parts;
  for (size_t i = 0; i < lengths.size(); ++i)
    parts.push_back(all.substr(static_cast<size_t>(starts[i]), static_cast<size_t>(lengths[i])));
  return parts;
}

std::string broadcast(MPI_Comm comm, const std::string& at_root) {
  uint64_t size = at_root.size();
  PMPI(Bcast)(&size, sizeof size, handles.byte, 0, comm);
  std::string bytes = at_root;
  bytes.resize(size);
  PMPI(Bcast)(bytes.data(), static_cast<int>(size), handles.byte, 0, comm);
  return bytes;
}

}  // namespace tracing
}  // namespace rubato
