#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rubato {

/// What the content of a message is made from: no two messages of a run are alike, nor is a message
/// like any other one's part.
struct Payload {
  int from = 0;
  int to = 0;
  size_t bytes = 0;
  uint64_t number = 0;  ///< of the message
};

/// Where a message differs from what was sent.
struct BitDifference {
  size_t offset = 0;  ///< bytes
  int bit = 0;        ///< 0 is the least one
};

/// Writes all bytes of a message.
void fill_payload(unsigned char* data, const Payload& payload);

/// Compares every bit; none when all are right.
std::optional<BitDifference> first_difference(const unsigned char* data, const Payload& payload);

}  // namespace rubato
