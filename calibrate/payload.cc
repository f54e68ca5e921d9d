#include "calibrate/payload.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rubato {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

/// Steele, Lea and Flood's SplitMix64, of one number.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

uint64_t seed_of(const Payload& payload) {
  const auto ends = static_cast<uint64_t>(static_cast<uint32_t>(payload.from)) << 32 |
                    static_cast<uint32_t>(payload.to);
  return mix(mix(mix(ends) ^ payload.bytes) ^ payload.number);
}

}  // namespace

void fill_payload(unsigned char* data, const Payload& payload) {
  const uint64_t seed = seed_of(payload);
  for (size_t at = 0; at < payload.bytes; at += kWord) {
    const uint64_t word = mix(seed + at);
    std::memcpy(data + at, &word, std::min(kWord, payload.bytes - at));
  }
}

std::optional<BitDifference> first_difference(const unsigned char* data, const Payload& payload) {
  const uint64_t seed = seed_of(payload);
  for (size_t at = 0; at < payload.bytes; at += kWord) {
    const size_t count = std::min(kWord, payload.bytes - at);
    const uint64_t word = mix(seed + at);
    if (std::memcmp(data + at, &word, count) == 0) continue;
    unsigned char expected[kWord];
    std::memcpy(expected, &word, kWord);
    size_t i = 0;
    while (data[at + i] == expected[i]) ++i;
    const unsigned difference = static_cast<unsigned>(data[at + i] ^ expected[i]);
    return BitDifference{at + i, std::countr_zero(difference)};
  }
  return std::nullopt;
}

}  // namespace rubato
