#include "tools/format/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace rubato {
namespace {

constexpr int kGap = 2;  // spaces between columns

std::string padded(const std::string& text, int width, bool left) {
  const std::string space(std::max(0, width - display_width(text)), ' ');
  return left ? text + space : space + text;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

int display_width(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

int page_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, 40);
  }
  return 100;
}

std::string wrap(const std::string& text, int width, int indent) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    if (word.starts_with('%') && !words.empty()) {  // keep the sign with its number
      words.back() += " " + word;
    } else {
      words.push_back(std::move(word));
    }
  }
  std::string out, line;
  for (const std::string& word : words) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      append_line(out, line);
      line = std::string(indent, ' ') + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  append_line(out, line);
  return out;
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::format(int page_width) const {
  std::vector<int> widths;
  for (size_t column = 0; column < header_.size(); ++column) {
    int width = display_width(header_[column]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[column]));
    widths.push_back(width);
  }
  std::string out;
  size_t first = 1;
  do {
    // As many columns as fit, at least one.
    int width = widths[0];
    size_t last = first;
    while (last < header_.size() && (last == first || width + kGap + widths[last] <= page_width)) {
      width += kGap + widths[last++];
    }
    const auto append_cells = [&](const std::vector<std::string>& cells) {
      std::string line = padded(cells[0], widths[0], true);
      for (size_t column = first; column < last; ++column) {
        line += std::string(kGap, ' ') + padded(cells[column], widths[column], false);
      }
      append_line(out, std::move(line));
    };
    if (first > 1) out += '\n';
    append_cells(header_);
    for (const auto& row : rows_) append_cells(row);
    first = last;
  } while (first < header_.size());
  return out;
}

}  // namespace rubato
