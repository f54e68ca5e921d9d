#include "calibrate/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "models/error.h"

namespace rubato {
namespace {

/// A file that is open for writing.
class Opened {
 public:
  /// What errors call it is the name that it is going to have.
  Opened(const std::string& file, const std::string& name, int flags)
      : name_(name), file_(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666)) {
    if (file_ < 0) fail("cannot be written");
  }
  ~Opened() {
    if (file_ >= 0) ::close(file_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  void put(const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("could not be written");
      done += static_cast<size_t>(count);
    }
  }

  /// Some file systems report a full disk only here; some cannot sync, which is no harm.
  void sync() {
    if (fsync(file_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("could not be written");
  }

  void close() {
    if (::close(std::exchange(file_, -1)) != 0) fail("could not be written");
  }

  off_t size() const {
    struct stat now;
    if (fstat(file_, &now) != 0) fail("could not be written");
    return now.st_size;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw InputError(name_ + " " + what + ": " + std::strerror(errno));
  }

  const std::string& name_;
  int file_;
};

bool has_content(const std::string& file) {
  struct stat there;
  return stat(file.c_str(), &there) == 0 && there.st_size > 0;
}

}  // namespace

NewFile::NewFile(std::string path, bool force) : path_(std::move(path)) {
  if (!force && access(path_.c_str(), F_OK) == 0) {
    throw InputError(path_ + " exists; choose another name, or --force to replace it");
  }
  const std::string partial = path_ + ".partial", whole = path_ + ".new";
  if (!force && has_content(partial)) {
    throw InputError(partial +
                     " is what a run left that was killed or failed: 'rubato fit' reads samples; "
                     "move it away, or --force to replace it");
  }
  if (!force && has_content(whole)) {
    throw InputError(whole + " is what a run left that was killed while it wrote " + path_ +
                     ", or could not give it its name: its end may be missing; move it away, or "
                     "--force to replace it");
  }
  Opened(partial, path_, O_TRUNC).close();
  unlink(partial.c_str());
}

NewFile::~NewFile() {
  if (!whole_.empty()) unlink(whole_.c_str());
}

void NewFile::append(const std::string& text) {
  const std::string partial = path_ + ".partial";
  Opened file(partial, path_, O_APPEND);
  const off_t before = file.size();
  try {
    file.put(text);
    file.close();
  } catch (const InputError& error) {
    if (before == 0) {
      unlink(partial.c_str());
    } else if (truncate(partial.c_str(), before) != 0) {
      throw InputError(error.what() + std::string("; the last line of ") + partial +
                       " is cut and has to be taken away");
    }
    throw;
  }
  partial_ = partial;
}

void NewFile::write(const std::string& text) {
  const std::string whole = path_ + ".new";
  Opened file(whole, path_, O_TRUNC);
  whole_ = whole;  // from here on it is this one's to remove
  file.put(text);
  file.sync();
  file.close();
}

void NewFile::commit() {
  assert(!whole_.empty());
  const std::string whole = std::exchange(whole_, "");
  if (rename(whole.c_str(), path_.c_str()) != 0) {
    throw InputError(path_ + " could not be put in place: " + std::strerror(errno) +
                     "; it is complete in " + whole);
  }
  discard();
}

void NewFile::discard() {
  if (!partial_.empty()) unlink(partial_.c_str());
  partial_.clear();
}

}  // namespace rubato
