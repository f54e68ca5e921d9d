#include "calibrate/plan/length_list.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/base/error.h"

namespace rubato {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// The columns that are looked at: level, pattern, bytes, seconds_min, and processes, which is
/// behind the end where there is none.
using Columns = std::array<size_t, 5>;

/// False for a line that is no header.
bool read_header(const std::vector<std::string>& cells, Columns& columns) {
  constexpr std::array<const char*, 5> kNames = {"level", "pattern", "bytes", "seconds_min",
                                                 "processes"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto found = std::find(cells.begin(), cells.end(), kNames[i]);
    if (found == cells.end() && i < 4) return false;
    columns[i] = static_cast<size_t>(found - cells.begin());
  }
  return true;
}

}  // namespace

LengthList read_length_list(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file + ": " + std::strerror(errno));
  LengthList list;
  Columns columns{};
  bool any_header = false;
  int line = 0;
  for (std::string text; std::getline(stream, text);) {
    ++line;
    if (text.empty() || text[0] == '#') continue;
    const std::vector<std::string> cells = cells_of(text);
    if (read_header(cells, columns)) {
      any_header = true;
      continue;
    }
    const auto cell = [&](int i) { return columns[i] < cells.size() ? cells[columns[i]] : ""; };
    if (!any_header || cell(3).empty()) continue;
    if (!cell(4).empty()) continue;  // a collective; payloads are no lengths, nor always whole
    const std::string number = cell(2);
    size_t bytes = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bytes);
    if (error != std::errc() || end != number.data() + number.size()) {
      throw InputError(file + ":" + std::to_string(line) + ": '" + number +
                       "' is no number of bytes");
    }
    list[{cell(0), cell(1)}].push_back(bytes);
  }
  if (list.empty()) {
    throw InputError(file +
                     ": no lengths to measure; is this a file of samples of 'rubato "
                     "calibrate'?");
  }
  for (auto& [key, lengths] : list) {
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  }
  return list;
}

std::vector<size_t> lengths_of(const LengthList& list, Level level, const std::string& pattern) {
  const auto found = list.find({kLevelNames[static_cast<int>(level)], pattern});
  return found == list.end() ? std::vector<size_t>{} : found->second;
}

}  // namespace rubato
