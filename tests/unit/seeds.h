// How many random cases a property test tries.
#pragma once

#include <cstdlib>

/// `count`, and a fifth of it under AddressSanitizer, which makes each case ten times as slow and
/// looks for something else: memory errors show in the first ones, or in the smaller tests.
constexpr unsigned seeds(unsigned count) {
#ifdef __SANITIZE_ADDRESS__
  return count / 5;
#else
  return count;
#endif
}

/// `usual` of them, and `all` with tests/run --all.
inline unsigned seeds(unsigned usual, unsigned all) {
  return seeds(std::getenv("ALL_SEEDS") ? all : usual);
}
