#pragma once

#include <cstddef>
#include <string>

/// Names that programs give are bytes; those of an archive are UTF-8, and some readers
/// (python3-otf2) open no archive with others.
namespace rubato {

/// Length of the UTF-8 character at `at`; 0 where there is none. No surrogates, no long forms.
inline size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || length > text.size() - at) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  const bool is_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second >= 0xA0;
  const bool is_beyond = first == 0xF4 && second >= 0x90;  // U+110000 and more
  return is_long || is_surrogate || is_beyond ? 0 : length;
}

/// `text` if it is UTF-8; else its bytes taken as Latin-1, each a character.
inline std::string as_utf8(const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = utf8_length(text, at);
    if (length == 0) break;
    at += length;
  }
  if (at >= text.size()) return text;
  std::string converted;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      converted += c;
    } else {
      converted += static_cast<char>(0xC0 | byte >> 6);
      converted += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return converted;
}

}  // namespace rubato
