#include "replay/call_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "models/error.h"

namespace rubato {
namespace {

constexpr size_t kBuffer = 1 << 20;  ///< bytes; what needs no more needs no file

}  // namespace

CallFile::CallFile() {
  const char* directory = std::getenv("TMPDIR");
  directory_ = directory && *directory ? directory : "/tmp";
}

CallFile::~CallFile() {
  if (file_ >= 0) ::close(file_);
}

uint64_t CallFile::append(std::span<const std::byte> bytes) {
  buffer_.reserve(kBuffer);  // at once: each time that it grew would touch new memory
  if (buffer_.size() + bytes.size() > kBuffer) write_out();
  const uint64_t offset = written_ + buffer_.size();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return offset;
}

void CallFile::write_out() {
  if (file_ < 0) open();
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be written");
    done += static_cast<size_t>(n);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void CallFile::open() {
  file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  // Some file systems cannot make a file without a name.
  std::string name = directory_ + "/rubato-XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("cannot be made");
  ::unlink(name.c_str());
}

void CallFile::read(uint64_t offset, std::span<std::byte> to) const {
  // What is in the buffer was not cut when it was appended: a piece of it is in one or the other.
  if (offset >= written_) {
    std::copy_n(buffer_.begin() + static_cast<ptrdiff_t>(offset - written_), to.size(), to.begin());
    return;
  }
  for (size_t done = 0; done < to.size();) {
    const ssize_t n =
        ::pread(file_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be read again");
    done += static_cast<size_t>(n);
  }
}

void CallFile::fail(const char* what) const {
  throw InputError(directory_ + ": the file that holds the calls of the archive meanwhile " + what +
                   " (" + std::strerror(errno) +
                   "); it takes up to the archive's size; TMPDIR says where it goes");
}

}  // namespace rubato
