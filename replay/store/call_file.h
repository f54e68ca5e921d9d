#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rubato {

/// Bytes that are written once, except for a few that are overwritten (late_actions.h), and read
/// repeatedly: the first ones in memory, the rest in an unnamed file. Both are deleted with their
/// owner.
class CallFile {
 public:
  /// The first `capacity` bytes stay in memory. The file will be in $TMPDIR, else in /tmp.
  explicit CallFile(size_t capacity);
  ~CallFile();
  CallFile(const CallFile&) = delete;
  CallFile& operator=(const CallFile&) = delete;

  /// Forgets all bytes. Errors: InputError when the disk fails.
  void clear();
  /// Appends `bytes` and returns their offset. Errors: InputError when the file cannot be created
  /// or the disk is full.
  uint64_t append(std::span<const std::byte> bytes);
  /// Address of bytes that stayed in memory, else null; aligned to eight bytes at the beginning of
  /// an append(). `offset` was returned by append(), or lies within its bytes.
  const std::byte* kept_at(uint64_t offset) const {
    return offset < capacity_ ? kept_.get() + offset : nullptr;
  }
  /// Fills `to` with the bytes from `offset` on, which must exist and must not have stayed in
  /// memory. Errors: InputError when the disk fails.
  void read(uint64_t offset, std::span<std::byte> to) const;
  /// Overwrites bytes from `offset` on, which belong to one append(). Errors: InputError when the
  /// disk fails.
  void overwrite(uint64_t offset, std::span<const std::byte> bytes);

 private:
  bool keep(std::span<const std::byte> bytes, uint64_t& offset);
  void write_out();
  void open();
  [[noreturn]] void fail(const char* what) const;

  std::string directory_;
  size_t capacity_;                    ///< bytes in memory; offsets in the file begin after them
  std::unique_ptr<std::byte[]> kept_;  ///< the bytes in memory, if there are some
  size_t kept_bytes_ = 0;
  int file_ = -1;
  uint64_t written_ = 0;           ///< bytes in the file
  std::vector<std::byte> buffer_;  ///< the bytes after them
};

}  // namespace rubato
