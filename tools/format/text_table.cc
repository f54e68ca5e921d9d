#include "tools/format/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace rubato {
namespace {

constexpr int kGap = 2;  // spaces between columns

bool tables_are_whole = false;

bool narrower(const TextColumn& a, const TextColumn& b) {
  return a.width < b.width;
}

std::string padded(const std::string& text, const TextColumn& column) {
  const std::string space(std::max(0, column.width - display_width(text)), ' ');
  return column.left ? text + space : space + text;
}

/// The first and the last characters of `text`, with "…" between them: `width` of them.
std::string shortened(const std::string& text, int width) {
  if (display_width(text) <= width) return text;
  std::vector<size_t> starts;  // of characters
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) != 0x80) starts.push_back(i);
  }
  const auto last = static_cast<size_t>((width - 1) / 2),
             first = static_cast<size_t>(width) - 1 - last;
  return text.substr(0, starts[first]) + "…" + text.substr(starts[starts.size() - last]);
}

void shorten(TextColumn& column, int width) {
  for (std::string& line : column.lines) line = shortened(line, width);
  column.width = std::min(column.width, width);
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

void keep_tables_whole() {
  tables_are_whole = true;
}

std::string aligned(std::vector<TextColumn> columns, int page_width) {
  if (columns.empty()) return "";
  if (tables_are_whole) page_width = std::numeric_limits<int>::max();
  for (TextColumn& column : columns) {
    for (const std::string& line : column.lines)
      column.width = std::max(column.width, display_width(line));
  }
  columns[0].left = true;
  const auto widest = std::max_element(columns.begin() + 1, columns.end(), narrower);
  if (widest != columns.end() && columns[0].width + kGap + widest->width > page_width) {
    for (TextColumn& column : columns) {
      if (column.left) shorten(column, (page_width - kGap) / 2);
    }
  }
  std::string out;
  size_t first = 1;
  do {
    // As many columns as fit, at least one.
    int width = columns[0].width;
    size_t last = first;
    while (last < columns.size() &&
           (last == first || width + kGap + columns[last].width <= page_width)) {
      width += kGap + columns[last++].width;
    }
    if (first > 1) out += '\n';
    for (size_t line = 0; line < columns[0].lines.size(); ++line) {
      std::string text = padded(columns[0].lines[line], columns[0]);
      for (size_t i = first; i < last; ++i)
        text += std::string(kGap, ' ') + padded(columns[i].lines[line], columns[i]);
      append_line(out, std::move(text));
    }
    first = last;
  } while (first < columns.size());
  return out;
}

}  // namespace rubato
