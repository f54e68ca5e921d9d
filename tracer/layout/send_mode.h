#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// What a persistent send was initialised as; the values of the archive's attribute.
enum class SendMode : uint8_t { kStandard, kBuffered, kSynchronous, kReady, kPartitioned };

}  // namespace tracing
}  // namespace rubato
