#include "tools/format/csv_text.h"

#include <charconv>

namespace rubato {

namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + (text[0] == '+' ? 1 : 0), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::string no_formula(const std::string& text) {
  const bool begins_one =
      !text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos;
  return begins_one && !is_number(text) ? "'" + text : text;
}

std::string csv_text(const std::string& name) {
  const std::string text = no_formula(name);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace rubato
