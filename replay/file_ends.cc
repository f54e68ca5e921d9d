#include "replay/file_ends.h"

#include <algorithm>
#include <array>
#include <fstream>

namespace rubato {
namespace {

constexpr char kChunkHeader = 3;
constexpr char kLowestFirst = 'B';
constexpr char kLowestLast = '#';
constexpr size_t kHeader = 18;  ///< bytes
constexpr char kNoRecord = 0;
constexpr char kTime = 5;
constexpr size_t kTimeBytes = 9;  ///< its type and the time

uint64_t number(const char* bytes, bool lowest_first) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[lowest_first ? 7 - i : i]);
    value = value << 8 | byte;
  }
  return value;
}

}  // namespace

std::optional<EventHeaders> event_headers(const std::string& path, uint64_t chunk) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < static_cast<std::streamoff>(kHeader) || chunk < kHeader) return {};
  EventHeaders headers;
  headers.damaged = true;  // until the end is reached
  for (uint64_t at = 0; at < static_cast<uint64_t>(size); at += chunk) {
    // The first record of a chunk mostly has a time before it.
    std::array<char, kHeader + kTimeBytes + 1> start{};
    file.seekg(static_cast<std::streamoff>(at)).read(start.data(), start.size());
    const auto read = static_cast<size_t>(file.gcount());
    file.clear();
    if (read < kHeader) return headers;
    const bool lowest_first = start[1] == kLowestFirst;
    const bool known = start[0] == kChunkHeader && (lowest_first || start[1] == kLowestLast);
    if (!known && at == 0) return {};
    // The one chunk of a file without events has 0 for both.
    const uint64_t first = number(&start[2], lowest_first);
    const uint64_t last = number(&start[10], lowest_first);
    if (!known || (first != headers.events + 1 && last != 0) || last < headers.events)
      return headers;
    const size_t record = start[kHeader] == kTime ? kHeader + kTimeBytes : kHeader;
    if (record < read && start[record] == kNoRecord) return headers;
    headers.events = last;
  }
  headers.damaged = false;
  return headers;
}

bool ends_as_written(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) return true;
  if (size < 3) return false;
  std::array<char, 3> end;
  if (!file.seekg(size - 3).read(end.data(), 3)) return true;
  const auto is_end = [](const char* bytes) { return bytes[0] == 2 && bytes[1] == 1; };
  // An editor or a version control may have added a line end.
  return is_end(&end[1]) || (end[2] == '\n' && is_end(&end[0]));
}

bool has_room_for_properties(const std::string& anchor) {
  constexpr size_t kTexts = 46;
  std::ifstream file(anchor, std::ios::binary);
  std::string bytes(size_t{1} << 20, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  size_t at = kTexts;
  for (int texts = 0; texts < 3 && at < bytes.size(); ++texts) {
    at = bytes.find('\0', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos || at + 4 > bytes.size()) return false;
  const bool lowest_first = bytes[1] == kLowestFirst;
  uint64_t count = 0;
  for (size_t i = 0; i < 4; ++i)
    count = count << 8 | static_cast<unsigned char>(bytes[at + (lowest_first ? 3 - i : i)]);
  // Each takes two texts of at least a 0. What was not read is left to libotf2.
  return 2 * count <= bytes.size() - at || bytes.size() == size_t{1} << 20;
}

}  // namespace rubato
