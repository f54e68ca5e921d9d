#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace rubato {

/// Numbers as text, with the decimal point whatever the locale of the program: printf and strtod
/// would write and expect a comma in many. The tracer and the library of the replay run in programs
/// of others.

namespace detail {
inline std::string number_text(double value, std::chars_format format, int digits) {
  char text[400];  // 309 digits before the point, and 64 after it
  return {text, std::to_chars(text, text + sizeof text, value, format, digits).ptr};
}
}  // namespace detail

/// "%.*f" of printf, with at most 64 decimals.
inline std::string fixed_text(double value, int decimals) {
  return detail::number_text(value, std::chars_format::fixed, decimals);
}

/// "%.*g" of printf, with at most 64 digits.
inline std::string general_text(double value, int digits) {
  return detail::number_text(value, std::chars_format::general, digits);
}

/// The number at the start of `text`, whose end `*rest` becomes; 0 and `text` if there is none.
inline double leading_number(const char* text, const char** rest = nullptr) {
  double value = 0;
  const std::string_view all(text);
  const char* end = std::from_chars(all.data(), all.data() + all.size(), value).ptr;
  if (rest != nullptr) *rest = end;
  return value;
}

}  // namespace rubato
