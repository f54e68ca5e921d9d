#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rubato {

/// Reads from `offset` on; returns the number of bytes read: fewer than requested at the end of the
/// file, or if the disk fails (errno).
inline size_t read_at(int file, uint64_t offset, std::span<std::byte> to) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t n =
        ::pread(file, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

/// The same for writing.
inline size_t write_at(int file, uint64_t offset, std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace rubato
