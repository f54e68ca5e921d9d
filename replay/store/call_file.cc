#include "replay/store/call_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "models/base/error.h"
#include "replay/store/positioned_io.h"

namespace rubato {
namespace {

constexpr size_t kBuffer = 1 << 20;  ///< bytes that are written at once

}  // namespace

CallFile::CallFile(size_t capacity) : capacity_(capacity) {
  const char* directory = std::getenv("TMPDIR");
  directory_ = directory && *directory ? directory : "/tmp";
}

CallFile::~CallFile() {
  if (file_ >= 0) ::close(file_);
}

void CallFile::clear() {
  kept_bytes_ = 0;
  written_ = 0;
  buffer_.clear();
  if (file_ >= 0 && ::ftruncate(file_, 0) != 0) fail("cannot be emptied");
}

uint64_t CallFile::append(std::span<const std::byte> bytes) {
  uint64_t kept = 0;
  if (keep(bytes, kept)) return kept;
  buffer_.reserve(kBuffer);  // at once: each time that it grew would touch new memory
  if (buffer_.size() + bytes.size() > kBuffer) write_out();
  const uint64_t offset = capacity_ + written_ + buffer_.size();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return offset;
}

/// True, and sets `offset`, if there was space for `bytes` in memory. A later, smaller piece may
/// still fit.
bool CallFile::keep(std::span<const std::byte> bytes, uint64_t& offset) {
  const size_t begin = (kept_bytes_ + 7) / 8 * 8;
  if (begin + bytes.size() > capacity_) return false;
  if (!kept_) kept_.reset(new std::byte[capacity_]);  // untouched pages take no memory
  std::copy(bytes.begin(), bytes.end(), kept_.get() + begin);
  kept_bytes_ = begin + bytes.size();
  offset = begin;
  return true;
}

void CallFile::write_out() {
  if (file_ < 0) open();
  if (write_at(file_, written_, buffer_) < buffer_.size()) fail("cannot be written");
  written_ += buffer_.size();
  buffer_.clear();
}

void CallFile::open() {
  file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  // Some file systems cannot create unnamed files.
  std::string name = directory_ + "/rubato-XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("cannot be made");
  ::unlink(name.c_str());
}

void CallFile::read(uint64_t offset, std::span<std::byte> to) const {
  assert(!kept_at(offset));
  offset -= capacity_;
  // The bytes of one append are not split: they are all in the file or all in the buffer.
  if (offset >= written_) {
    std::copy_n(buffer_.begin() + static_cast<ptrdiff_t>(offset - written_), to.size(), to.begin());
    return;
  }
  if (read_at(file_, offset, to) < to.size()) fail("cannot be read again");
}

void CallFile::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  if (offset < capacity_) {
    std::copy(bytes.begin(), bytes.end(), kept_.get() + offset);
    return;
  }
  offset -= capacity_;
  if (offset >= written_) {
    std::copy(bytes.begin(), bytes.end(),
              buffer_.begin() + static_cast<ptrdiff_t>(offset - written_));
    return;
  }
  if (write_at(file_, offset, bytes) < bytes.size()) fail("cannot be written");
}

void CallFile::fail(const char* what) const {
  throw InputError(directory_ + ": the temporary file of the archive's calls " + what + " (" +
                   std::strerror(errno) +
                   "); it needs up to the archive's size; TMPDIR sets its directory");
}

}  // namespace rubato
