#pragma once

#include "tracer/layout/eager_limits.h"

namespace rubato {
inline namespace tracing {

/// Those of the MPI library of this process.
EagerLimits eager_limits();

}  // namespace tracing
}  // namespace rubato
