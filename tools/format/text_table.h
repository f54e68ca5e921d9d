#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

namespace rubato {

/// Quantities as cells of a TextTable: a column of them has one unit, which is added to its
/// heading.
struct SecondsCell {
  double value;
};
struct BytesCell {
  double value;
};
struct RateCell {  // bytes per second
  double value;
};
using TableCell = std::variant<std::string, SecondsCell, BytesCell, RateCell>;

/// A text table with aligned columns: words left, numbers right. The first column names the row and
/// is aligned left. A cell of a column of quantities that is not one of them is text. A table that
/// is too wide for the page is split into blocks of columns, each of which repeats the first
/// column; a column of words that is too wide by itself is shortened.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Missing cells at the end are left empty.
  void add_row(std::vector<TableCell> cells);
  template <std::same_as<std::string> Text>
  void add_row(std::vector<Text> cells) {
    add_row(std::vector<TableCell>(std::make_move_iterator(cells.begin()),
                                   std::make_move_iterator(cells.end())));
  }

  std::string format(int page_width) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<TableCell>> rows_;
};

/// Tables of more ranks than this are shortened or folded, except with --all.
inline constexpr size_t kRanksShown = 16;

/// The width of `text` in terminal columns (UTF-8 code points; wide characters are not used).
int display_width(const std::string& text);

/// The width of the terminal on standard output; 100 if it is not a terminal.
int page_width();

/// `text` in lines of at most `width`, broken between words; lines after the first are indented.
std::string wrap(const std::string& text, int width, int indent);

}  // namespace rubato
