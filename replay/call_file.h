#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rubato {

/// A file that has no name, and is gone with its owner. What fits into a megabyte of memory never
/// gets as far as the disk.
class CallFile {
 public:
  /// It will be in $TMPDIR, else in /tmp.
  CallFile();
  ~CallFile();
  CallFile(const CallFile&) = delete;
  CallFile& operator=(const CallFile&) = delete;

  /// Appends `bytes`; where they begin. Errors: InputError when the file cannot be made or the disk
  /// is full.
  uint64_t append(std::span<const std::byte> bytes);
  /// Fills `to` with the bytes from `offset` on, which must be there. Errors: InputError when the
  /// disk fails.
  void read(uint64_t offset, std::span<std::byte> to) const;

 private:
  void write_out();
  void open();
  [[noreturn]] void fail(const char* what) const;

  std::string directory_;
  int file_ = -1;
  uint64_t written_ = 0;           ///< bytes in the file
  std::vector<std::byte> buffer_;  ///< what follows them
};

}  // namespace rubato
