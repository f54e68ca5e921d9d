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

uint64_t number(const char* bytes, bool lowest_first) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[lowest_first ? 7 - i : i]);
    value = value << 8 | byte;
  }
  return value;
}

}  // namespace

std::optional<uint64_t> events_by_headers(const std::string& path, uint64_t chunk) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < static_cast<std::streamoff>(kHeader) || chunk < kHeader) return {};
  uint64_t events = 0;
  for (uint64_t at = 0; at < static_cast<uint64_t>(size); at += chunk) {
    std::array<char, kHeader> header;
    if (!file.seekg(static_cast<std::streamoff>(at)).read(header.data(), kHeader)) return 0;
    const bool lowest_first = header[1] == kLowestFirst;
    const bool known = header[0] == kChunkHeader && (lowest_first || header[1] == kLowestLast);
    if (!known && at == 0) return {};
    // The one chunk of a file without events has 0 for both.
    const uint64_t first = number(&header[2], lowest_first);
    const uint64_t last = number(&header[10], lowest_first);
    if (!known || (first != events + 1 && last != 0) || last < events) return 0;
    events = last;
  }
  return events;
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
