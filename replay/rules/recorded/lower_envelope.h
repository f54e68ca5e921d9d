#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "replay/cluster/byte_stream.h"

namespace rubato {

/// The least time seen for a size or any larger one: a larger message is never faster, so its time
/// bounds that of a smaller one from above. Sizes above 1024 are rounded to 7 bits to keep the
/// table small.
class LowerEnvelope {
 public:
  void add(double size, double time) {
    const auto [entry, is_new] = least_.emplace(rounded(size), time);
    if (!is_new && time < entry->second) entry->second = time;
  }

  /// Makes the table monotone. REQUIRES: called once, after the last add() and before the first
  /// at().
  void finish() {
    double least = std::numeric_limits<double>::infinity();
    for (auto entry = least_.rbegin(); entry != least_.rend(); ++entry) {
      least = std::fmin(least, entry->second);
      entry->second = least;
    }
  }

  /// Before finish(): serialises the samples for another process.
  void put(ByteWriter& to) const {
    to.number(least_.size());
    for (const auto& [size, time] : least_) to.value(size), to.value(time);
  }
  void take(ByteReader& from) {
    for (uint64_t left = from.number(); left > 0; --left) {
      double size = 0, time = 0;
      from.value(size), from.value(time);
      add(size, time);
    }
  }

  /// The bound for `size`; infinite if no sample is as large.
  double at(double size) const {
    const auto entry = least_.lower_bound(rounded(size));
    return entry == least_.end() ? std::numeric_limits<double>::infinity() : entry->second;
  }
  /// The size of the sample next to `size`, not smaller; infinite if there is none.
  double sampled(double size) const {
    const auto entry = least_.lower_bound(rounded(size));
    return entry == least_.end() ? std::numeric_limits<double>::infinity() : entry->first;
  }

 private:
  static double rounded(double size) {
    if (size <= 1024) return size;
    constexpr uint64_t kKept = ~uint64_t{0} << (std::numeric_limits<double>::digits - 7);
    return std::bit_cast<double>(std::bit_cast<uint64_t>(size) & kKept);
  }

  std::map<double, double> least_;
};

}  // namespace rubato
