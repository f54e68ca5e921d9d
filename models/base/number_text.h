#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

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

/// The number at the start of `text`, whose end `*rest` becomes; 0 and `text` if there is none. One
/// that is too large is infinite. (With hundreds of digits and an exponent, either may be wrong.)
inline double leading_number(const char* text, const char** rest = nullptr) {
  double value = 0;
  const std::string_view all(text + (text[0] == '+' && text[1] != '-' ? 1 : 0));
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error == std::errc::result_out_of_range) {
    const std::string_view number(all.data(), end);
    const size_t exponent = number.find_first_of("eE");
    // (Too small without an exponent: zeros up to the point, and many behind it.)
    const bool is_tiny = exponent == number.npos
                             ? number.find_first_of("123456789.") == number.find('.')
                             : number[exponent + 1] == '-';
    const double infinity = std::numeric_limits<double>::infinity();
    value = is_tiny ? 0 : text[0] == '-' ? -infinity : infinity;
  }
  if (rest != nullptr) *rest = error == std::errc::invalid_argument ? text : end;
  return value;
}

}  // namespace rubato
