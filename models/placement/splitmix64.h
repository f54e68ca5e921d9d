#pragma once

#include <cstdint>

namespace rubato {

/// The next pseudorandom number, the same on all machines and with all libraries: SplitMix64
/// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Advances
/// `state`.
inline uint64_t splitmix64(uint64_t& state) {
  uint64_t bits = state += 0x9E3779B97F4A7C15u;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

}  // namespace rubato
