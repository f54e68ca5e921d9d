#include "replay/checkpoint.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "models/error.h"
#include "replay/cluster/byte_stream.h"
#include "replay/result_stream.h"

namespace rubato {
namespace {

constexpr std::string_view kTitle = "rubato checkpoint 1\n";

struct RecordHead {
  uint64_t size;
  uint64_t checksum;
};

uint64_t checksum(const std::byte* bytes, size_t size) {
  boost::crc_32_type sum;
  sum.process_bytes(bytes, size);
  return sum.checksum();
}

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw InputError(file + ": " + what);
}

/// The same, with the reason in errno.
[[noreturn]] void fail_by_system(const std::string& file, const std::string& what) {
  fail(file, what + ": " + std::strerror(errno));
}

void write_all(const std::string& name, int file, const Bytes& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t some = write(file, bytes.data() + done, bytes.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) fail_by_system(name, "the checkpoint cannot be written");
    done += static_cast<size_t>(some);
  }
}

Bytes read_all(const std::string& name, int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) fail(name, "is no regular file");
  Bytes bytes(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t some =
        pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) fail_by_system(name, "cannot be read");
    if (some == 0) break;
    done += static_cast<size_t>(some);
  }
  bytes.resize(done);
  return bytes;
}

Bytes head(const std::string& key) {
  ByteWriter to;
  to.raw(kTitle.data(), kTitle.size());
  to.text(key);
  return to.take();
}

/// Puts the whole records behind the head of a file into `found`, without those that do not fit;
/// how many bytes they all are, head included.
size_t take_records(const Bytes& bytes, size_t at, const Checkpoint::Fits& fits,
                    std::map<uint64_t, ScenarioResult>& found) {
  RecordHead record{};
  while (bytes.size() - at >= sizeof record) {
    std::memcpy(&record, bytes.data() + at, sizeof record);
    const size_t begin = at + sizeof record;
    if (record.size > bytes.size() - begin) break;
    const std::byte* const from = bytes.data() + begin;
    if (checksum(from, record.size) != record.checksum) break;
    try {
      ByteReader reader(from, from + record.size);
      const uint64_t scenario = reader.number();
      ScenarioResult result = take_result(reader);
      if (!fits || fits(scenario, result)) found.insert_or_assign(scenario, std::move(result));
    } catch (const std::exception&) {
      break;  // a record that nobody wrote, with the right checksum
    }
    at = begin + record.size;
  }
  return at;
}

bool begins_with(const Bytes& bytes, const Bytes& begin) {
  return bytes.size() >= begin.size() && std::memcmp(bytes.data(), begin.data(), begin.size()) == 0;
}

/// True for what a checkpoint begins with, whole or not.
bool is_checkpoint(const Bytes& bytes) {
  return std::memcmp(bytes.data(), kTitle.data(), std::min(bytes.size(), kTitle.size())) == 0;
}

/// Opens a file beside for reading; -1 where that is no checkpoint.
int open_other(const std::string& name) {
  const int file = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  Bytes begin(kTitle.size());
  const ssize_t count = pread(file, begin.data(), begin.size(), 0);
  begin.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  if (!begin.empty() && is_checkpoint(begin)) return file;
  close(file);
  return -1;
}

/// The contents of a file beside, or nothing where that is no checkpoint.
Bytes checkpoint_in(const std::string& name) {
  const int file = open_other(name);
  if (file < 0) return {};
  Bytes bytes;
  try {
    bytes = read_all(name, file);
  } catch (const InputError&) {
  }
  close(file);
  return bytes;
}

/// Locks a checkpoint, which others of this key may have begun. Errors: InputError.
void lock(const std::string& name, int file) {
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail(name, "another replay writes this checkpoint; name another --checkpoint FILE");
}

/// Errors: InputError where it is none.
void require_checkpoint(const std::string& name, const Bytes& bytes) {
  if (!is_checkpoint(bytes))
    fail(name, "is no checkpoint, and stays as it is; name another --checkpoint FILE");
}

/// True of a checkpoint whose run ended before its `begin` was whole, false of one that is further.
/// Errors: InputError where it begins otherwise.
bool is_begun(const std::string& name, const Bytes& bytes, const Bytes& begin) {
  if (begins_with(begin, bytes)) return true;
  if (begins_with(bytes, begin)) return false;
  fail(name,
       "is of a replay with another command, archive, platform file or version; remove it, or name "
       "another --checkpoint FILE");
}

/// FILE.1, FILE.2, ...: those that are there.
std::vector<std::string> files_of_others(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string prefix = path.filename().string() + ".";
  std::vector<std::string> found;
  std::error_code ignored;
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    if (name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

Checkpoint::Checkpoint(const std::string& file, const std::string& key, int self, const Fits& fits)
    : name_(self == 0 ? file : file + "." + std::to_string(self)) {
  file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file_ < 0) fail_by_system(name_, "the checkpoint cannot be opened");
  try {
    lock(name_, file_);
    const Bytes begin = head(key);
    const Bytes bytes = read_all(name_, file_);
    require_checkpoint(name_, bytes);
    const bool is_new = self != 0 || is_begun(name_, bytes, begin);
    const size_t whole = is_new ? 0 : take_records(bytes, begin.size(), fits, found_);
    if (ftruncate(file_, static_cast<off_t>(whole)) != 0 ||
        lseek(file_, static_cast<off_t>(whole), SEEK_SET) < 0)
      fail_by_system(name_, "the checkpoint cannot be written");
    if (is_new) write_all(name_, file_, begin);
    if (self != 0) return;
    for (const std::string& other : files_of_others(file)) {
      const Bytes theirs = checkpoint_in(other);
      if (!begins_with(theirs, begin)) continue;
      std::map<uint64_t, ScenarioResult> more;
      take_records(theirs, begin.size(), fits, more);
      for (const auto& [scenario, result] : more) {
        if (found_.emplace(scenario, result).second) add(scenario, result);
      }
    }
  } catch (...) {
    close(file_);
    throw;
  }
}

void Checkpoint::check(const std::string& file, const std::string& key) {
  int there = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool is_new = there < 0 && errno == ENOENT;
  if (is_new) there = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (there < 0) fail_by_system(file, "the checkpoint cannot be opened");
  try {
    lock(file, there);
    if (!is_new) {
      const Bytes bytes = read_all(file, there);
      require_checkpoint(file, bytes);
      is_begun(file, bytes, head(key));
    }
  } catch (...) {
    close(there);
    throw;
  }
  if (is_new) unlink(file.c_str());
  close(there);
}

Checkpoint::~Checkpoint() {
  close(file_);
}

void Checkpoint::add(uint64_t scenario, const ScenarioResult& result) {
  ByteWriter body;
  body.number(scenario);
  put_result(body, result);
  const Bytes bytes = body.take();
  const RecordHead head{bytes.size(), checksum(bytes.data(), bytes.size())};
  Bytes record(sizeof head);
  std::memcpy(record.data(), &head, sizeof head);
  record.insert(record.end(), bytes.begin(), bytes.end());
  write_all(name_, file_, record);
  if (fdatasync(file_) != 0 && errno != EINVAL)
    fail_by_system(name_, "the checkpoint cannot be written");
}

void Checkpoint::remove(const std::string& file) {
  std::error_code ignored;
  for (const std::string& other : files_of_others(file)) {
    const int opened = open_other(other);
    if (opened < 0) continue;
    close(opened);
    std::filesystem::remove(other, ignored);
  }
  std::filesystem::remove(file, ignored);
}

}  // namespace rubato
