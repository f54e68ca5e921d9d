#pragma once

#include <cstdint>

namespace rubato {

/// Which receives the archive marks as having named MPI_ANY_SOURCE or MPI_ANY_TAG.
enum class WildcardsKnown : uint8_t { kNone, kNonblocking, kAll };

}  // namespace rubato
