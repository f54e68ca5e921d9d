// How many random cases a property test tries.
#pragma once

/// `count`, and a fifth of it under AddressSanitizer, which makes each case ten times as slow and
/// looks for something else: memory errors show in the first ones, or in the smaller tests.
constexpr unsigned seeds(unsigned count) {
#ifdef __SANITIZE_ADDRESS__
  return count / 5;
#else
  return count;
#endif
}
