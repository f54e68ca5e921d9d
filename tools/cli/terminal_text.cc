#include "tools/cli/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace rubato {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Returns the character at `at` and moves `at` behind it; kNone for a byte that is not UTF-8.
uint32_t next_character(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || at + more > text.size()) return kNone;
  uint32_t character = first & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return kNone;
    character = character << 6 | (byte & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  if (character < kLeast[more] || character > 0x10FFFF || surrogate) return kNone;
  at += more;
  return character;
}

/// True for characters that move the cursor or change the writing direction.
bool is_control(uint32_t c) {
  return c == kNone || (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) ||
         c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Runs `put(character, its bytes)` over the characters.
template <typename Put>
void each_character(const std::string& text, Put put) {
  const std::string_view all = text;
  for (size_t at = 0; at < all.size();) {
    const size_t begin = at;
    const uint32_t character = next_character(all, at);
    put(character, all.substr(begin, at - begin));
  }
}

}  // namespace

std::string terminal_text(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
  });
  if (plain) return text;
  std::string clean;
  clean.reserve(text.size());
  each_character(text, [&](uint32_t character, std::string_view bytes) {
    clean += is_control(character) ? "?" : bytes;
  });
  return clean;
}

std::string one_line(const std::string& text) {
  std::string line = terminal_text(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string ascii_text(const std::string& text) {
  static constexpr std::pair<uint32_t, const char*> kSpellings[] = {
      {0xB5, "u"},    {0x3BC, "u"},     {0xB1, "+-"},   {0xD7, "x"},     {0xB7, "*"},
      {0x2013, "-"},  {0x2014, "-"},    {0x2212, "-"},  {0x2026, "..."}, {0x2192, "->"},
      {0x2190, "<-"}, {0x2264, "<="},   {0x2265, ">="}, {0x2248, "~"},   {0xB2, "^2"},
      {0xB3, "^3"},   {0x3C3, "sigma"}, {0x2018, "'"},  {0x2019, "'"},   {0x201C, "\""},
      {0x201D, "\""}, {0xA0, " "},      {0x2502, "|"},  {0x2500, "-"},   {0xF7, "/"}};
  std::string ascii;
  each_character(text, [&](uint32_t character, std::string_view bytes) {
    if (character < 0x80) {
      ascii += bytes;
      return;
    }
    const auto found =
        std::find_if(std::begin(kSpellings), std::end(kSpellings),
                     [&](const auto& spelling) { return spelling.first == character; });
    ascii += found == std::end(kSpellings) ? "?" : found->second;
  });
  return ascii;
}

bool wants_ascii() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value)
      return std::string_view(value) == "C" || std::string_view(value) == "POSIX";
  }
  return false;
}

}  // namespace rubato
