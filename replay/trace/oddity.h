#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// Something odd in an archive, such as receives without a recorded completion: how often.
struct Oddity {
  uint64_t count = 0;
  std::string first;  ///< "rank 3, event 112 (MPI_Irecv)"

  void add(const Oddity& other) {
    if (count == 0) first = other.first;
    count += other.count;
  }
};

}  // namespace rubato
