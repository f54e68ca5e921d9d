#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato {

/// A column as text, the heading first.
struct TextColumn {
  std::vector<std::string> lines;
  bool left = false;
  int width = 0;  ///< set by aligned()
};

/// From here on tables are neither split nor shortened, however wide: for output that is no
/// terminal, which other programs and editors read.
void keep_tables_whole();

/// Aligned columns, as Table::text(); "" for none.
std::string aligned(std::vector<TextColumn> columns, int page_width);

/// Tables of more ranks than this are shortened or folded, except with --all.
inline constexpr size_t kRanksShown = 16;

/// The width of `text` in terminal columns (UTF-8 code points; wide characters are not used).
int display_width(const std::string& text);

/// The width of the terminal on standard output; 100 if it is not a terminal.
int page_width();

/// `text` in lines of at most `width`, broken between words; lines after the first are indented.
std::string wrap(const std::string& text, int width, int indent);

}  // namespace rubato
