#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace rubato {

/// One number per scenario: K scenarios of one structure are evaluated in one pass over the trace.
/// Control flow depends on the trace, never on a lane, so that a lane's result does not depend on
/// its neighbours.
template <int K>
using Lanes = Eigen::Array<double, K, 1>;

/// Bytes that a processor reads from memory at once.
inline constexpr size_t kCacheLine = 64;

}  // namespace rubato
