#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// Bytes up to which MPI sends a message eagerly, from the library's variables; 0 if unknown.
struct EagerLimits {
  uint64_t node = 0;
  uint64_t network = 0;
};

}  // namespace tracing
}  // namespace rubato
