#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/format/json_text.h"

namespace rubato {

/// How text shows the values of a column, or which files have it.
enum class As : uint8_t {
  kPlain,    ///< text, and numbers without a unit
  kCount,    ///< 1,234
  kSeconds,  ///< all in one unit, which is added to the heading
  kBytes,    ///< likewise
  kRate,     ///< bytes per second, likewise
  kShare,    ///< 0 to 1; in percent
  kTime,     ///< seconds, each in its own unit
  kFiles,    ///< JSON and CSV
  kJson,
  kCsv,
};

/// A value in a row of a Table, and its column. share/doc/ explains the keys of files.
struct Cell {
  /// In text, under this heading; or only in files, under this key.
  Cell(const std::string& name, Json of_row, As how = As::kPlain)
      : key(how < As::kFiles ? "" : name),
        value(std::move(of_row)),
        heading(how < As::kFiles ? name : ""),
        as(how) {}
  /// In files and in text; in files only without a heading.
  Cell(std::string in_files, Json of_row, std::string in_text, As how = As::kPlain)
      : key(std::move(in_files)), value(std::move(of_row)), heading(std::move(in_text)), as(how) {}

  std::string key;
  Json value;  ///< null: not known; in text a dash
  std::string heading;
  As as;
};

/// Results of a command: rows of values in common columns.
class Table {
 public:
  void add(std::vector<Cell> row);
  /// Names the columns of a table that may be without rows.
  void set_columns(std::vector<Cell> row) { columns_ = std::move(row); }

  /// An array with an object per row.
  Json json() const;
  /// The keys, to which "_s" is added for seconds, then a line per row.
  std::string csv() const;
  /// Aligned columns, words left, numbers right; columns that are null in every row are left out.
  /// The first column names the row and is aligned left. Text in a column of quantities is shown as
  /// it is. A table that is too wide for the page is split into blocks of columns, each of which
  /// repeats the first column; a column of words that is too wide by itself is shortened.
  std::string text(int page_width) const;
  /// An empty line, the title if there is one, and the text; "" without rows.
  std::string section(const std::string& title, int page_width) const;

 private:
  std::vector<Cell> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace rubato
