#pragma once

#include <string>

namespace rubato {

/// What is printed for people, whoever made up the names in it: a '?' stands for each control
/// character but line ends and tabs (escapes of terminals begin with one; U+0080 to U+009F are
/// such, too), for characters that turn the direction of writing, and for bytes that are no UTF-8.
std::string terminal_text(const std::string& text);

/// The same in one line, for messages: a line end is a space.
std::string one_line(const std::string& text);

/// `text` for terminals that show ASCII only: "us", "+-", "x" for "µs", "±", "×"; '?' for letters
/// without a spelling.
std::string ascii_text(const std::string& text);

/// True where LC_ALL, or else LC_CTYPE, or else LANG asks for the locale "C" or "POSIX".
bool wants_ascii();

}  // namespace rubato
