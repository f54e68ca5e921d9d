#include "calibrate/clock/message_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "models/base/lanes.h"
#include "models/base/units.h"
#include "models/fit/message_pattern.h"

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

size_t cold_buffer(size_t cache, unsigned long long left) {
  const auto bytes = static_cast<size_t>(std::min<unsigned long long>(cache, left / 4));
  return std::max(kCacheLine, bytes / kCacheLine * kCacheLine);
}

size_t MemoryWalk::next(size_t used) {
  used = std::max(kCacheLine, whole_lines(used));
  if (at_ + used > bytes_) at_ = 0;
  const size_t place = at_;
  at_ += used;
  return place;
}

unsigned long long memory_of_rank(const MemoryNeeds& needs) {
  const auto two = [](size_t bytes) { return 2 * static_cast<unsigned long long>(bytes); };
  constexpr int kAtOnce = std::max(kMostInBurst, kMostNeighbours);
  return std::max({two(message_buffer(needs.max_bytes, kAtOnce, needs.cold_bytes)),
                   two(needs.copied_bytes), 1ull * needs.collectives});
}

std::string complain_of_memory(const NodeMemory& memory, size_t max_bytes,
                               const std::string& host) {
  return fmt::format(
      "messages of {} need {} on {} ({} ranks, up to {} each), where {} are left; choose a smaller "
      "max_size (--plan), or fewer ranks",
      format_bytes(static_cast<double>(max_bytes)), brief_bytes(memory.all), host, memory.ranks,
      brief_bytes(memory.each), brief_bytes(memory.left));
}

}  // namespace rubato
