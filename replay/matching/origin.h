#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "models/base/lanes.h"

namespace rubato {

/// What determines a time: the enter of a call by `timeline` at `at`; later than that, only the
/// speed of the machine matters. In the first lane.
struct Origin {
  int32_t timeline = -1;  ///< -1: not known
  double at = 0;          ///< ticks
};

/// In place of an Origin where none is tracked.
struct NoOrigin {
  NoOrigin() = default;
  NoOrigin(const Origin&) {}
  operator Origin() const { return {}; }
};

/// A time in every lane, in ticks, and the origin of the first lane's. By: Origin or NoOrigin.
template <int K, class By = Origin>
struct Dated {
  Lanes<K> time = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  [[no_unique_address]] By origin;

  /// Becomes the later of both; on a tie it keeps its origin.
  [[gnu::always_inline]] void raise(const Dated& other) {
    if (other.time[0] > time[0]) origin = other.origin;
    time = time.max(other.time);
  }
  /// Becomes later, until `until` but by no more than `most`.
  void delay(const Dated& until, const Lanes<K>& most) {
    const Lanes<K> left = (until.time - time).max(0).eval();
    if (left[0] > 0 && left[0] < most[0]) origin = until.origin;
    time += left.min(most);
  }
  [[gnu::always_inline]] Dated operator+(const Lanes<K>& ticks) const {
    return {time + ticks, origin};
  }
  operator Dated<K, NoOrigin>() const requires std::is_same_v<By, Origin> { return {time, {}}; }
};

}  // namespace rubato
