#include "calibrate/message_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>

#include "models/lanes.h"
#include "models/units.h"

namespace rubato {
namespace {

/// Three significant digits at most: "3.12GiB".
std::string brief_bytes(unsigned long long bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

}  // namespace

size_t whole_lines(size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

size_t message_buffer(size_t max_bytes, int at_once, size_t cold_bytes) {
  const size_t one = whole_lines(std::max<size_t>(1, max_bytes));
  const size_t several = std::min(kForSeveral, one * static_cast<size_t>(at_once));
  return std::max({one, several, cold_bytes});
}

size_t longest_at_once(size_t buffer, size_t max_bytes, int at_once) {
  if (at_once <= 1) return max_bytes;
  return std::min(max_bytes, buffer / static_cast<size_t>(at_once) / kCacheLine * kCacheLine);
}

std::string complain_of_memory(const NodeMemory& memory, size_t max_bytes,
                               const std::string& host) {
  return fmt::format(
      "messages of {} need {} on {} ({} for each of {} ranks), where {} are left; choose a smaller "
      "--max-size",
      format_bytes(static_cast<double>(max_bytes)),
      brief_bytes(memory.each * static_cast<unsigned long long>(memory.ranks)), host,
      brief_bytes(memory.each), memory.ranks, brief_bytes(memory.left));
}

unsigned long long memory_left(std::istream& meminfo, std::istream& limit) {
  unsigned long long left = std::numeric_limits<unsigned long long>::max();
  for (std::string line; std::getline(meminfo, line);) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kilobytes) == 1)
      left = kilobytes * 1024;
  }
  unsigned long long most = 0;
  if (limit >> most) left = std::min(left, most);  // "max" is no number
  return left;
}

unsigned long long memory_left_here() {
  std::ifstream meminfo("/proc/meminfo");
  // "0::/path" is the line of version 2.
  std::ifstream groups("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) path = line.substr(3);
  }
  std::ifstream limit("/sys/fs/cgroup" + path + "/memory.max");
  return memory_left(meminfo, limit);
}

}  // namespace rubato
