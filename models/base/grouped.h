#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// A count for people: 1234567 -> "1,234,567".
std::string grouped(uint64_t count);

}  // namespace rubato
