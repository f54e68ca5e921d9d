#include "calibrate/program/sample_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "models/base/error.h"

namespace rubato {
namespace {

std::string partial_of(const std::string& path) {
  return path + ".partial";
}

/// Creates the file. Fails if it exists, since it may be a link placed there by another user.
int create(const std::string& partial) {
  return open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool put(int file, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

void refuse_unwritable(const std::string& path, bool force) {
  if (!force && access(path.c_str(), F_OK) == 0)
    throw InputError(path + " exists; choose another name, or --force to replace it");
  struct stat there;
  if (stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    throw InputError(path + " cannot be written: it is a directory");
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    throw InputError(path + " cannot be replaced: it is no regular file");
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    throw InputError(path + " cannot be written: " + std::strerror(errno));
}

void refuse_output(const std::string& path, bool force, Rows rows) {
  refuse_unwritable(path, force);
  const std::string partial = partial_of(path);
  struct stat there;
  const bool is_there = lstat(partial.c_str(), &there) == 0;
  if (is_there && !S_ISREG(there.st_mode))
    throw InputError(partial + " is no regular file; remove it, or choose another name");
  if (!force && is_there && there.st_size > 0) {
    const char* use = rows == Rows::kSamples ? ": 'rubato fit' reads samples" : "";
    throw InputError(partial + " is what a run left that was killed or failed" + use +
                     "; move it away, or --force to replace it");
  }
  if (is_there) unlink(partial.c_str());
  const int file = create(partial);
  if (file < 0) throw InputError(path + " cannot be written: " + std::strerror(errno));
  close(file);
  unlink(partial.c_str());
}

SampleWriter::SampleWriter(std::string path, bool force, Rows rows)
    : path_(std::move(path)), partial_(partial_of(path_)) {
  refuse_output(path_, force, rows);
}

void SampleWriter::add(const std::string& rows) {
  pending_ += rows;
  const int file = any_ ? open(partial_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
                        : create(partial_);
  if (file < 0) fail(errno);
  const off_t before = lseek(file, 0, SEEK_END);
  int error = put(file, pending_) ? 0 : errno;
  if (error && ftruncate(file, before) != 0) error = errno;
  if (close(file) != 0 && !error) error = errno;
  if (error && before == 0) unlink(partial_.c_str());
  if (error) fail(error);
  pending_.clear();
  any_ = true;
}

void SampleWriter::finish() {
  if (!pending_.empty()) add("");
  const int file = open(partial_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) fail(errno);
  // Some file systems report a full disk only here; some cannot sync, which is no harm.
  const int error = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  close(file);
  if (error) fail(error);
  if (rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  any_ = false;
}

void SampleWriter::discard() {
  if (any_) unlink(partial_.c_str());
  any_ = false;
}

void SampleWriter::fail(int error) const {
  throw InputError(path_ + " could not be written: " + std::strerror(error));
}

}  // namespace rubato
