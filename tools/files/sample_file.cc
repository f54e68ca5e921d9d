#include "tools/files/sample_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <utility>

#include "models/base/error.h"

namespace rubato {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, ',')) {
    const size_t first = cell.find_first_not_of(" \"\r\t");
    const size_t last = cell.find_last_not_of(" \"\r\t");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// The first of `names` that the header has, or -1.
int column_of(const std::vector<std::string>& header, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<int>(found - header.begin());
  }
  return -1;
}

bool parse_number(const std::string& text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

// The limits of platform files (models/base/units.h).
constexpr double kMostBytes = 1152921504606846976.0;
constexpr double kMostSeconds = 1e6;

/// The patterns whose time is that of one message, between ranks or of a rank to itself.
bool is_transfer(const std::string& pattern) {
  return pattern == "pingpong" || pattern == "sendrecv";
}

/// Strict reading, for computations: every row counts, and errors name the line.
class RowReader {
 public:
  RowReader(std::string file, std::string column)
      : file_(std::move(file)), column_(std::move(column)) {}

  SampleFile read() {
    std::ifstream stream(file_);
    if (!stream) throw InputError(fmt::format("{}: {}", file_, std::strerror(errno)));
    for (std::string text; std::getline(stream, text);) {
      ++line_;
      if (text.find_first_not_of(" \r\t") == std::string::npos) continue;
      if (text[0] == '#') {
        take_comment(text);
        continue;
      }
      take(cells_of(text));
    }
    if (stream.bad() || std::filesystem::is_directory(file_)) {
      throw InputError(fmt::format("{}: cannot be read", file_));
    }
    if (content_.rows.empty()) {
      throw InputError(fmt::format("{}: contains no samples with {}", file_, column_));
    }
    return std::move(content_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line_, message));
  }

  void take(const std::vector<std::string>& cells) {
    const bool is_header = column_of(cells, {"pattern"}) >= 0 && column_of(cells, {"bytes"}) >= 0;
    if (line_of_header_ == 0 || is_header) {
      take_header(cells);
      return;
    }
    // An empty last cell is not in `cells`.
    const auto cell = [&](int index) {
      return index >= 0 && static_cast<size_t>(index) < cells.size() ? cells[index] : "";
    };
    if (cell(level_).empty() || cell(pattern_).empty()) fail("a row without level or pattern");
    if (cells.size() + 1 < columns_ || cells.size() > columns_) {
      fail(fmt::format("expected {1} cells as in the header, found {0}; is the file truncated?",
                       cells.size(), columns_));
    }
    SampleRow row{cell(level_), cell(pattern_)};
    row.launch = launch_of(cell(launch_));
    if (!parse_number(cell(bytes_), row.bytes) || row.bytes < 0 || row.bytes > kMostBytes) {
      fail(fmt::format("'{}' is not a valid number of bytes", cell(bytes_)));
    }
    if (cell(seconds_).empty()) {
      const bool held = row.pattern.rfind("held ", 0) == 0;
      if (row.pattern != "eager" && row.pattern != "waiting" && !held) fail("a row without a time");
      content_.probes.push_back(std::move(row));
      return;
    }
    const auto time = [&](int column, const std::string& name) {
      double seconds = 0;
      if (parse_number(cell(column), seconds) && seconds > 0 && seconds <= kMostSeconds)
        return seconds;
      fail(fmt::format(
          "{} is '{}', expected a time greater than 0{}", name, cell(column),
          std::isfinite(seconds) && seconds > kMostSeconds ? ", up to a million seconds" : ""));
    };
    row.seconds = time(seconds_, column_);
    for (const bool of_medians : {false, true}) {
      const auto& [even, odd] = of_medians ? median_halves_ : halves_;
      if (cell(even).empty() || cell(odd).empty()) continue;
      double* half = of_medians ? row.median_half : row.half;
      const std::string name = of_medians ? "seconds_median_" : "seconds_min_";
      half[0] = time(even, name + "even");
      half[1] = time(odd, name + "odd");
    }
    row.messages = count_in(cell(messages_), "messages", 1);
    row.processes = count_in(cell(processes_), "processes", 0);
    if (!cell(median_).empty()) row.median = time(median_, "seconds_median");
    if (!cell(average_).empty()) row.average = time(average_, "seconds_avg");
    if (!cell(interval_).empty() &&
        (!parse_number(cell(interval_), row.interval) || row.interval < 0))
      fail(fmt::format("'{}' is not a valid interval", cell(interval_)));
    content_.rows.push_back(std::move(row));
  }

  /// An integer of at least 1; `none` if the cell is empty.
  int count_in(const std::string& text, const char* of_what, int none) const {
    double number = none;
    if (!text.empty() && (!parse_number(text, number) || number < 1 || number > 1e6 ||
                          number != std::floor(number))) {
      fail(fmt::format("'{}' is not a valid number of {}", text, of_what));
    }
    return static_cast<int>(number);
  }

  /// Reads "# key: value"; other comments are ignored. With several launches the first value
  /// counts.
  void take_comment(const std::string& text) {
    const size_t colon = text.find(": ");
    const size_t key = text.find_first_not_of("# ");
    if (colon == std::string::npos || key == std::string::npos || key >= colon) return;
    const size_t end = text.find_last_not_of(" \r\t");
    const std::string name = text.substr(key, colon - key);
    const bool is_key = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
    if (!is_key || end <= colon) return;
    content_.measured.emplace(name, text.substr(colon + 2, end - colon - 1));
  }

  void take_header(const std::vector<std::string>& cells) {
    line_of_header_ = line_;
    columns_ = cells.size();
    level_ = column_of(cells, {"level"});
    pattern_ = column_of(cells, {"pattern"});
    bytes_ = column_of(cells, {"bytes"});
    seconds_ = column_of(cells, {column_.c_str()});
    launch_ = column_of(cells, {"launch"});
    messages_ = column_of(cells, {"messages"});
    halves_ = {column_of(cells, {"seconds_min_even"}), column_of(cells, {"seconds_min_odd"})};
    median_halves_ = {column_of(cells, {"seconds_median_even"}),
                      column_of(cells, {"seconds_median_odd"})};
    processes_ = column_of(cells, {"processes"});
    median_ = column_of(cells, {"seconds_median"});
    average_ = column_of(cells, {"seconds_avg"});
    interval_ = column_of(cells, {"interval"});
    for (const auto& [column, name] : {std::pair{level_, "level"},
                                       {pattern_, "pattern"},
                                       {bytes_, "bytes"},
                                       {seconds_, column_.c_str()}}) {
      if (column < 0) {
        fail(fmt::format("no column '{}'; is this a sample file of 'rubato calibrate'?", name));
      }
    }
  }

  int launch_of(const std::string& text) {
    return launches_
        .emplace(std::pair{line_of_header_, text}, static_cast<int>(launches_.size()) + 1)
        .first->second;
  }

  std::string file_, column_;
  int line_ = 0;
  int line_of_header_ = 0;
  size_t columns_ = 0;
  int level_ = -1, pattern_ = -1, bytes_ = -1, seconds_ = -1, launch_ = -1;
  int messages_ = -1;
  std::pair<int, int> halves_ = {-1, -1}, median_halves_ = {-1, -1};
  int processes_ = -1, median_ = -1, average_ = -1, interval_ = -1;
  std::map<std::pair<int, std::string>, int> launches_;
  SampleFile content_;
};

}  // namespace

std::vector<Sample> read_samples(const std::string& file, const std::string& column) {
  std::ifstream stream(file);
  std::string line;
  // Skip comments before the header.
  while (std::getline(stream, line) && (line.empty() || line[0] == '#')) {
  }
  const std::vector<std::string> header = cells_of(line);
  const int level = column_of(header, {"level"});
  const int bytes = column_of(header, {"bytes", "size"});
  const int seconds = column_of(header, {column.c_str(), "seconds"});
  const int pattern = column_of(header, {"pattern"});
  std::vector<Sample> samples;
  if (level < 0 || bytes < 0 || seconds < 0) return samples;

  const size_t needed = static_cast<size_t>(std::max({level, bytes, seconds, pattern})) + 1;
  while (std::getline(stream, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < needed) continue;
    if (pattern >= 0 && !is_transfer(cells[pattern])) continue;
    Sample sample{cells[level], 0, 0};
    if (!parse_number(cells[bytes], sample.bytes) || sample.bytes < 0) continue;
    if (!parse_number(cells[seconds], sample.seconds) || sample.seconds <= 0) continue;
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::string operation_of(const SampleRow& row) {
  if (!row.processes) return row.level + " " + row.pattern;
  return fmt::format("{} {} p={}", row.level, row.pattern, row.processes);
}

double seconds_of_launch(const SampleRow& row, OfLoops of_loops) {
  const bool median = row.processes || of_loops == OfLoops::kMedian;
  return median && row.median > 0 ? row.median : row.seconds;
}

SampleFile read_sample_file(const std::string& file, const std::string& column) {
  return RowReader(file, column).read();
}

}  // namespace rubato
