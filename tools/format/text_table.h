#pragma once

#include <string>
#include <vector>

namespace rubato {

/// A table of text with aligned columns. The first column names the row and is aligned left; the
/// others are aligned right. Too wide for the page, it continues below in blocks of columns, each
/// with the first column again.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Cells that are missing at the end stay empty.
  void add_row(std::vector<std::string> cells);

  std::string format(int page_width) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of a terminal that `text` takes (UTF-8 code points; none of ours is wide).
int display_width(const std::string& text);

/// The width of the terminal on standard output; 100 where it is none.
int page_width();

/// `text` in lines of at most `width`, broken between words; lines after the first are indented.
std::string wrap(const std::string& text, int width, int indent);

}  // namespace rubato
