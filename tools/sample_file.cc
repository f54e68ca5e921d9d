#include "tools/sample_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <sstream>

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

/// The patterns whose time is that of one message: from rank to rank, or to oneself.
bool is_transfer(const std::string& pattern) {
  return pattern == "pingpong" || pattern == "sendrecv";
}

}  // namespace

std::vector<Sample> read_samples(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  // Comments may stand before the header.
  while (std::getline(stream, line) && (line.empty() || line[0] == '#')) {
  }
  const std::vector<std::string> header = cells_of(line);
  const int level = column_of(header, {"level"});
  const int bytes = column_of(header, {"bytes", "size"});
  const int seconds = column_of(header, {"seconds_min", "seconds"});
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

}  // namespace rubato
