#pragma once

#include <string>

namespace rubato {

/// Makes text with names from untrusted input safe for a terminal: replaces with '?' each control
/// character except line ends and tabs (terminal escape sequences begin with one; U+0080 to U+009F
/// are included), each character that changes the writing direction, and each byte that is not
/// UTF-8.
std::string terminal_text(const std::string& text);

/// The same on one line, for messages: line ends become spaces.
std::string one_line(const std::string& text);

/// `text` for terminals that show ASCII only: "us", "+-", "x" for "µs", "±", "×"; '?' for letters
/// without a spelling.
std::string ascii_text(const std::string& text);

/// True if the first of LC_ALL, LC_CTYPE and LANG that is set is "C" or "POSIX".
bool wants_ascii();

}  // namespace rubato
