#include "tracer/code/source_lines.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace rubato {
inline namespace tracing {
namespace {

/// The functions of libdw that are used. A preloaded library must not depend on libdw: every
/// process would load it, and none would start where it is missing.
struct Libdw {
  decltype(&dwarf_begin) begin;
  decltype(&dwarf_end) end;
  decltype(&dwarf_nextcu) next_unit;
  decltype(&dwarf_offdie) entry_at;
  decltype(&dwarf_ranges) ranges;
  decltype(&dwarf_getsrc_die) line_at;
  decltype(&dwarf_lineno) number;
  decltype(&dwarf_linesrc) source;
  bool usable = false;

  Libdw() {
    void* library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto get = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    usable = get(begin, "dwarf_begin") && get(end, "dwarf_end") && get(next_unit, "dwarf_nextcu") &&
             get(entry_at, "dwarf_offdie") && get(ranges, "dwarf_ranges") &&
             get(line_at, "dwarf_getsrc_die") && get(number, "dwarf_lineno") &&
             get(source, "dwarf_linesrc");
  }
};

const Libdw& libdw() {
  static const Libdw library;
  return library;
}

}  // namespace

/// The compilation units and the addresses they are for. Compilers need not write a table of them
/// (.debug_aranges), so it is made here.
struct SourceLines::Units {
  struct Range {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Off unit;
  };
  int file = -1;
  Dwarf* debug = nullptr;
  std::vector<Range> ranges;

  ~Units() {
    if (debug != nullptr) libdw().end(debug);
    if (file >= 0) close(file);
  }
};

SourceLines::SourceLines(const std::string& file) : units_(std::make_unique<Units>()) {
  const Libdw& dw = libdw();
  if (!dw.usable) return;
  units_->file = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (units_->file < 0) return;
  units_->debug = dw.begin(units_->file, DWARF_C_READ);
  if (units_->debug == nullptr) return;
  size_t head;
  Dwarf_Off next = 0;
  for (Dwarf_Off unit = 0;
       dw.next_unit(units_->debug, unit, &next, &head, nullptr, nullptr, nullptr) == 0;
       unit = next) {
    Dwarf_Die entry;
    if (dw.entry_at(units_->debug, unit + head, &entry) == nullptr) continue;
    Dwarf_Addr base, begin, end;
    for (ptrdiff_t at = 0; (at = dw.ranges(&entry, at, &base, &begin, &end)) > 0;) {
      units_->ranges.push_back({begin, end, unit + head});
    }
  }
  std::sort(units_->ranges.begin(), units_->ranges.end(),
            [](const Units::Range& a, const Units::Range& b) { return a.begin < b.begin; });
}

SourceLines::~SourceLines() = default;

void SourceLines::find(uint64_t address, std::string& file, uint32_t& line) const {
  const auto& ranges = units_->ranges;
  auto range =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](uint64_t a, const SourceLines::Units::Range& r) { return a < r.begin; });
  if (range == ranges.begin() || address >= (--range)->end) return;
  const Libdw& dw = libdw();
  Dwarf_Die entry;
  if (dw.entry_at(units_->debug, range->unit, &entry) == nullptr) return;
  Dwarf_Line* found = dw.line_at(&entry, address);
  int number = 0;
  if (found == nullptr || dw.number(found, &number) != 0) return;
  const char* source = dw.source(found, nullptr, nullptr);
  if (source == nullptr) return;
  file = source;
  line = static_cast<uint32_t>(number);
}

}  // namespace tracing
}  // namespace rubato
