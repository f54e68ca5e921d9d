#pragma once

#include <cstdint>

namespace rubato {

/// The receives for which the archive records MPI_ANY_SOURCE or MPI_ANY_TAG.
enum class WildcardsKnown : uint8_t { kNone, kNonblocking, kAll };

}  // namespace rubato
