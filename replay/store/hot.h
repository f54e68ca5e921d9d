#pragma once

// Placement of the engine's functions: the path of nearly every call is inlined into one piece of
// code, rare paths stay out of it. Also prefetching (engine/memory_ahead.h).

#include <algorithm>
#include <cstddef>

#include "models/lanes.h"

#define RUBATO_HOT [[gnu::always_inline]] inline
#define RUBATO_RARE [[gnu::noinline]]

namespace rubato {

/// Asks for the lines of memory of an object, or for the first of them.
template <typename T>
void fetch_lines(const T* first, size_t bytes, size_t at_most = 32 * kCacheLine) {
  const char* at = reinterpret_cast<const char*>(first);
  for (const char* end = at + std::min(bytes, at_most); at < end; at += kCacheLine)
    __builtin_prefetch(at);
}

}  // namespace rubato
