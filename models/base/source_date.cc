#include "models/base/source_date.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "models/base/error.h"

namespace rubato {

std::optional<std::time_t> source_date() {
  const char* value = std::getenv("SOURCE_DATE_EPOCH");
  if (value == nullptr || *value == '\0') return std::nullopt;
  const std::string text = value;
  // Up to the year 9999.
  constexpr int64_t kLast = 253402300799;
  int64_t seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > kLast)
    throw InputError("SOURCE_DATE_EPOCH is '" + text +
                     "'; it has to be seconds since 1970, up to the year 9999");
  return static_cast<std::time_t>(seconds);
}

}  // namespace rubato
