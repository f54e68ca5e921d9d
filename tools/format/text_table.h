#pragma once

#include <string>
#include <vector>

namespace rubato {

/// A text table with aligned columns. The first column names the row and is aligned left; the
/// others are aligned right. A table that is too wide for the page is split into blocks of columns,
/// each of which repeats the first column.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Missing cells at the end are left empty.
  void add_row(std::vector<std::string> cells);

  std::string format(int page_width) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// The width of `text` in terminal columns (UTF-8 code points; wide characters are not used).
int display_width(const std::string& text);

/// The width of the terminal on standard output; 100 if it is not a terminal.
int page_width();

/// `text` in lines of at most `width`, broken between words; lines after the first are indented.
std::string wrap(const std::string& text, int width, int indent);

}  // namespace rubato
