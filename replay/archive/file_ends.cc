#include "replay/archive/file_ends.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "replay/store/positioned_io.h"

namespace rubato {
namespace {

constexpr char kChunkHeader = 3;
constexpr char kLowestFirst = 'B';
constexpr char kLowestLast = '#';
constexpr size_t kHeader = 18;  ///< bytes
constexpr char kNoRecord = 0;
constexpr char kTime = 5;
constexpr size_t kTimeBytes = 9;  ///< its type and the time

/// A file of which a few bytes are read at several places. There are two files per location, so
/// system calls are minimised, and there is no buffer.
class FewBytes {
 public:
  explicit FewBytes(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status;
    if (file_ >= 0 && fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
  }
  ~FewBytes() {
    if (file_ >= 0) ::close(file_);
  }
  FewBytes(const FewBytes&) = delete;
  FewBytes& operator=(const FewBytes&) = delete;

  /// Bytes; -1 when it cannot be opened.
  int64_t size() const { return size_; }
  /// The number of bytes read from `offset` on.
  size_t read(int64_t offset, std::span<char> to) const {
    return read_at(file_, static_cast<uint64_t>(offset), std::as_writable_bytes(to));
  }

 private:
  int file_;
  int64_t size_ = -1;
};

uint64_t number(const char* bytes, bool lowest_first) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[lowest_first ? 7 - i : i]);
    value = value << 8 | byte;
  }
  return value;
}

}  // namespace

PartOnDisk::PartOnDisk(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) problem = std::strerror(errno);
    return;
  }
  is_there = true;
  if (!S_ISREG(status.st_mode))
    problem = "is no regular file";
  else if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
    problem = std::strerror(errno);
}

std::optional<EventHeaders> event_headers(const std::string& path, uint64_t chunk) {
  const FewBytes file(path);
  if (file.size() < static_cast<int64_t>(kHeader) || chunk < kHeader) return {};
  EventHeaders headers;
  headers.damaged = true;  // until the end is reached
  for (uint64_t at = 0; at < static_cast<uint64_t>(file.size()); at += chunk) {
    // The first record of a chunk usually has a time before it.
    std::array<char, kHeader + kTimeBytes + 1> start{};
    const size_t read = file.read(static_cast<int64_t>(at), start);
    if (read < kHeader) return headers;
    const bool lowest_first = start[1] == kLowestFirst;
    const bool known = start[0] == kChunkHeader && (lowest_first || start[1] == kLowestLast);
    if (!known && at == 0) return {};
    // The only chunk of a file without events has 0 for both.
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
  const FewBytes file(path);
  if (file.size() < 0) return true;
  if (file.size() < 3) return false;
  std::array<char, 3> end;
  if (file.read(file.size() - 3, end) < end.size()) return true;
  const auto is_end = [](const char* bytes) { return bytes[0] == 2 && bytes[1] == 1; };
  // An editor or a version control system may have added a line end.
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
  // Each property takes two texts of at least one byte. Unread bytes are left to libotf2.
  return 2 * count <= bytes.size() - at || bytes.size() == size_t{1} << 20;
}

}  // namespace rubato
