#include "tools/files/whole_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "tools/cli/no_pipe_signal.h"

namespace rubato {
namespace fs = std::filesystem;
namespace {

/// The files being written, to detect two outputs to the same file.
std::set<std::string>& targets() {
  static std::set<std::string> names;
  return names;
}

/// Creates a file next to `target`, under an unpredictable name, against symlink attacks; -1 with
/// errno on failure.
int create_beside(const std::string& target, mode_t mode, std::string& name) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.part-{:08x}", target, random());
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

std::string link_of(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

/// Creates a file without a name, which can get one next to `target`; -1 where there are none.
int create_nameless(const std::string& target, mode_t mode) {
  const std::string directory = fs::path(target).parent_path();
  const int file = open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (file < 0 || access(link_of(file).c_str(), F_OK) == 0) return file;
  close(file);
  return -1;
}

/// Gives a file the owner and permissions of the file that it will replace.
void make_alike(int file, const struct stat& other) {
  const bool is_theirs = fchown(file, other.st_uid, other.st_gid) == 0;
  // If the group cannot be set, grant no permissions to the group of this user.
  const mode_t mask = is_theirs ? 0777 : 0707;
  static_cast<void>(fchmod(file, other.st_mode & mask));
}

}  // namespace

WholeFile::WholeFile(const std::string& path) : path_(path), target_(path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) fail(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    target_ = target_of(path);
    if (!targets().insert(target_).second)
      throw InputError(fmt::format("{}: two outputs cannot be written to the same file", path));
    const NotInterrupted between;
    struct stat older = {};
    const bool replaces = stat(target_.c_str(), &older) == 0;
    const mode_t mode = replaces ? 0600 : 0666;
    descriptor_ = create_beside(target_, mode, temporary_);
    owns_target_ = descriptor_ >= 0;
    if (const int file = owns_target_ ? create_nameless(target_, mode) : -1; file >= 0) {
      close(std::exchange(descriptor_, file));
      unlink(temporary_.c_str());
      has_name_ = false;
    }
    if (owns_target_) gone_.emplace(temporary_);
    if (owns_target_ && replaces) make_alike(descriptor_, older);
  }
  if (descriptor_ < 0) {
    const int error = errno;
    if (!temporary_.empty()) targets().erase(target_);
    temporary_.clear();  // not ours to remove
    fail(error);
  }
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (owns_target_) targets().erase(target_);
}

void WholeFile::write(const std::string& text) {
  const NoPipeSignal quiet;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    done += static_cast<size_t>(count);
  }
}

void WholeFile::commit() {
  // Some file systems report a full disk or quota only here.
  if (!temporary_.empty() && fsync(descriptor_) != 0) fail(errno);
  if (!has_name_ && linkat(AT_FDCWD, link_of(descriptor_).c_str(), AT_FDCWD, temporary_.c_str(),
                           AT_SYMLINK_FOLLOW) != 0)
    fail(errno);
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(errno);
  if (temporary_.empty()) return;
  if (!gone_->keep_as(target_)) fail(errno);
  temporary_.clear();
}

void WholeFile::fail(int error) {
  throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error)));
}

std::string target_of(const std::string& path) {
  std::error_code ignored;
  const std::string target = fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
  return target.empty() ? path : target;
}

void keep_apart(const std::string& output, const std::string& other) {
  if (target_of(output) == target_of(other))
    throw UsageError(fmt::format("{}: two outputs cannot be written to the same file", other));
}

void refuse_existing(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code ignored;  // a file that cannot be accessed cannot be written either
    if (fs::is_regular_file(file, ignored))
      throw InputError(
          fmt::format("{} exists; choose another name, or --force to replace it", file));
  }
}

void keep_input(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored)) {
    throw InputError(
        fmt::format("{} is an input file; choose another name for the output", output));
  }
}

}  // namespace rubato
