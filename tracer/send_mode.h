#pragma once

#include <cstdint>

namespace rubato::inline tracing {

/// What a persistent send was initialised as; the values of the archive's attribute.
enum class SendMode : uint8_t { kStandard, kBuffered, kSynchronous, kReady, kPartitioned };

}  // namespace rubato::inline tracing
