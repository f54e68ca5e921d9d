#include "tools/format/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <string_view>

#include "tools/format/csv_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using Cells = std::vector<const Cell*>;

/// True for text that is neither a number with or without a unit nor a dash: "late sender".
bool is_word(const std::string& text) {
  const size_t begin = text.find_first_not_of("+-<(");
  if (begin == std::string::npos) return false;
  const std::string_view rest = std::string_view(text).substr(begin);
  return (rest[0] < '0' || rest[0] > '9') && !rest.starts_with("×") && !rest.starts_with("÷") &&
         !rest.starts_with("±") && !rest.starts_with("inf");
}

/// The common unit of the quantities in `cells`, with no more decimals than they need; none if all
/// are text.
std::optional<Unit> unit_of_column(As as, const Cells& cells) {
  std::vector<double> values;
  for (const Cell* cell : cells) {
    if (cell->value.is_number()) values.push_back(cell->value.get<double>());
  }
  if (values.empty() || (as != As::kSeconds && as != As::kBytes && as != As::kRate)) return {};
  Unit unit = as == As::kSeconds ? common_unit(values)
              : as == As::kBytes ? common_bytes(values)
                                 : common_rate(values);
  const auto ends_with_0 = [&](double value) {
    return !std::isfinite(value) || unit.show(value).ends_with('0');
  };
  while (unit.decimals > 0 && std::all_of(values.begin(), values.end(), ends_with_0))
    --unit.decimals;
  return unit;
}

std::string shown(const Cell& cell, const std::optional<Unit>& unit) {
  const Json& value = cell.value;
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (unit) return unit->show(value.get<double>());
  if (cell.as == As::kCount) return show_count(value.get<uint64_t>());
  if (cell.as == As::kShare) return show_share(value.get<double>(), 1);
  if (cell.as == As::kTime) return show_seconds(value.get<double>());
  return value.dump();
}

TextColumn laid_out(const Cell& first, const Cells& cells) {
  const std::optional<Unit> unit = unit_of_column(first.as, cells);
  TextColumn column{{first.heading}};
  // "Bytes" is a unit already.
  if (unit && (unit->name != std::string("B") || !first.heading.starts_with("Bytes")))
    column.lines[0] += std::string(" (") + unit->name + ")";
  int words = 0, numbers = 0;
  for (const Cell* cell : cells) {
    const std::string text = shown(*cell, unit);
    if (is_word(text))
      ++words;
    else if (cell->value.is_number() || (!text.empty() && text != "-"))
      ++numbers;
    column.lines.push_back(text);
  }
  column.left = words > numbers;
  return column;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_text(value.get<std::string>());
  return value.is_number_float() ? fmt::to_string(value.get<double>()) : value.dump();
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  if (columns_.empty()) columns_ = row;
  assert(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

Json Table::json() const {
  Json list = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json object = Json::object();
    for (const Cell& cell : row) {
      if (!cell.key.empty() && cell.as != As::kCsv) object[cell.key] = cell.value;
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string Table::csv() const {
  std::string text;
  const auto add_line = [&](const std::vector<Cell>& row, const auto& show) {
    std::string line;
    for (const Cell& cell : row) {
      if (!cell.key.empty() && cell.as != As::kJson) line += "," + show(cell);
    }
    if (!line.empty()) text += line.substr(1) + "\n";
  };
  add_line(columns_, [](const Cell& cell) {
    return cell.key + (cell.as == As::kSeconds || cell.as == As::kTime ? "_s" : "");
  });
  for (const std::vector<Cell>& row : rows_)
    add_line(row, [](const Cell& cell) { return csv_cell(cell.value); });
  return text;
}

std::string Table::text(int page_width) const {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Cells cells;
    for (const std::vector<Cell>& row : rows_) cells.push_back(&row[i]);
    const bool is_known = !columns_[i].value.is_null() ||
                          std::any_of(cells.begin(), cells.end(),
                                      [](const Cell* cell) { return !cell->value.is_null(); });
    if (is_known && !columns_[i].heading.empty()) columns.push_back(laid_out(columns_[i], cells));
  }
  return aligned(std::move(columns), page_width);
}

std::string Table::section(const std::string& title, int page_width) const {
  if (rows_.empty()) return "";
  return "\n" + (title.empty() ? "" : wrap(title, page_width, 2)) + text(page_width);
}

}  // namespace rubato
