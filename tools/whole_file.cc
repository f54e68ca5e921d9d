#include "tools/whole_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "models/error.h"

namespace rubato {
namespace fs = std::filesystem;
namespace {

/// Files that are being written: two of them must not be one.
std::set<std::string>& targets() {
  static std::set<std::string> names;
  return names;
}

/// While it lives, writing into a pipe that nobody reads is an error like others, not the end of
/// the process: that would leave temporary files behind. Only so long, as programs that rubato
/// starts would inherit it.
class NoPipeSignal {
 public:
  NoPipeSignal() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoPipeSignal() { std::signal(SIGPIPE, before_); }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  void (*before_)(int);
};

bool reader_left = false;

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
      throw InputError(fmt::format("{}: two outputs cannot be written to one file", path));
    temporary_ = fmt::format("{}.part-{}", target_, getpid());
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    owns_target_ = descriptor_ >= 0;
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
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(errno);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
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
    throw UsageError(fmt::format("{}: two outputs cannot be written to one file", other));
}

void refuse_existing(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code ignored;  // what cannot be looked at cannot be written either
    if (fs::is_regular_file(file, ignored))
      throw InputError(
          fmt::format("{} exists; choose another name, or --force to replace it", file));
  }
}

void keep_input(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored)) {
    throw InputError(
        fmt::format("{} is what is read; choose another name for what is written", output));
  }
}

void print_to_stdout(const std::string& text) {
  const NoPipeSignal quiet;
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0) return;
  if (errno != EPIPE) throw InputError("standard output cannot be written");
  reader_left = true;
  // What is printed from here on, and what is left in the buffer, is for nobody.
  if (!freopen("/dev/null", "w", stdout)) throw InputError("standard output cannot be written");
}

bool nobody_reads_stdout() {
  return reader_left;
}

}  // namespace rubato
