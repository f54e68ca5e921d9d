#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// Bytes up to which MPI sends a message without asking the receiver, as far as the library tells
/// by its variables; 0 where it does not.
struct EagerLimits {
  uint64_t node = 0;
  uint64_t network = 0;
};
EagerLimits eager_limits();

}  // namespace tracing
}  // namespace rubato
