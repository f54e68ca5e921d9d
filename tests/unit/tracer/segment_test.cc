#include "tracer/layout/segment.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/directory.h"
#include "tracer/base/file_limit.h"
#include "tracer/layout/thread_records.h"

using namespace rubato;

namespace {

/// A small file system, "disk", and a place to move segments to.
class SmallDisk {
 public:
  explicit SmallDisk(const char* size) {
    std::filesystem::create_directory(disk());
    const std::string options = std::string("size=") + size;
    mounted_ = mount("tmpfs", disk().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(disk().c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  std::string disk() const { return directory_.path() / "disk"; }
  std::string overflow() const { return directory_.path() / "overflow"; }

  /// Takes every page that is free.
  void fill() const {
    const int file =
        open((disk() + "/filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::vector<char> page(4096, 'x');
    while (write(file, page.data(), page.size()) > 0) {
    }
    close(file);
  }

 private:
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

/// While it lives no file of this process may become longer than `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_action_ = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old_) == 0);
    const rlimit limit{bytes, old_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_action_);
  }

 private:
  void (*old_action_)(int);
  rlimit old_{};
};

/// One record that fills a segment's first two words, so that readers find it.
void put_mark(SegmentFile& file, uint64_t enter) {
  file.begin()[1] = record::size_word(0, 0);
  file.begin()[0] = record::head(enter, kMarkOn);
}

/// The enter times of all marks, in order, with 0 as the first tick.
std::vector<uint64_t> marks(const SegmentFile& file) {
  std::vector<uint64_t> found;
  const ThreadRecords records(0, file.file(), file.overflow_file());
  CHECK(records.missing_segments() == 0);
  CHECK(records.for_each(0, [&](const record::Record& r) { found.push_back(r.enter); }));
  return found;
}

}  // namespace

// Only root can mount a small file system, in which another writer can take freed space: CI must
// run this as root (in a container), or it tests nothing. The next test needs no privileges.
TEST_CASE("the segment in use keeps its memory if no more is available") {
  const SmallDisk small("1m");  // holds four segments
  if (!small.mounted()) {
    WARN("only root can mount a small file system");
    return;
  }
  const std::string disk = small.disk(), overflow = small.overflow();
  const SegmentSpace space{disk.c_str(), overflow.c_str(), 0, true, uint64_t{1} << 30};
  SegmentFile file;
  REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kGood);
  put_mark(file, 1);
  REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kGood);
  put_mark(file, 2);

  // 2 MiB are not available, whatever is moved away, because another writer takes freed space at
  // once.
  CHECK(file.extend(space, 0, size_t{2} << 20) == SegmentFile::Result::kFailed);
  small.fill();
  for (uint64_t* word = file.begin() + 2; word < file.end(); ++word) *word = 0;  // no SIGBUS
  CHECK(marks(file) == std::vector<uint64_t>{1, 2});

  // The memory of the last segment serves the next ones.
  for (uint64_t mark = 3; mark < 6; ++mark) {
    CHECK(file.extend(space, 0, 1000) == SegmentFile::Result::kFlushed);
    CHECK(file.begin()[0] == 0);
    CHECK(*(file.end() - 1) == 0);
    put_mark(file, mark);
    *(file.end() - 1) = 17;  // so that it has to be zeroed
  }
  CHECK(marks(file) == std::vector<uint64_t>{1, 2, 3, 4, 5});
  file.remove(space, 0, true);
}

TEST_CASE("if files cannot grow, the segment in use is reused while there is space for a copy") {
  const TemporaryDirectory directory;
  const std::string memory = directory.path(), overflow = directory.path() / "overflow";
  const SegmentSpace space{memory.c_str(), overflow.c_str(), 0, true, uint64_t{1} << 30};
  SegmentFile file;
  std::vector<SegmentFile::Result> results;
  struct stat held {};
  {
    const FileSizeLimit two(2 * kSegmentBytes);
    for (uint64_t mark = 1; mark < 3; ++mark) {
      results.push_back(file.extend(space, 0, 1000));
      put_mark(file, mark);
    }
    // There is no space for it. The first segment is moved away for it, the one in use is not.
    results.push_back(file.extend(space, 0, size_t{2} << 20));
    fstat(file.file(), &held);
    for (uint64_t* word = file.begin() + 2; word < file.end(); ++word) *word = 0;
    // The second is copied and its memory reused; then the file of moved segments is full, too.
    results.push_back(file.extend(space, 0, 1000));
    put_mark(file, 3);
    results.push_back(file.extend(space, 0, 1000));
    for (uint64_t* word = file.begin() + 2; word < file.end(); ++word) *word = 0;
  }
  using Result = SegmentFile::Result;
  CHECK(results == std::vector<Result>{Result::kGood, Result::kGood, Result::kFailed,
                                       Result::kFlushed, Result::kFailed});
  CHECK(static_cast<size_t>(held.st_blocks) * 512 >= kSegmentBytes);
  CHECK(marks(file) == std::vector<uint64_t>{1, 2, 3});
  file.remove(space, 0, true);
}

TEST_CASE("a thread with one segment stays within the memory limit") {
  const TemporaryDirectory directory;
  const std::string overflow = directory.path() / "overflow";
  const SegmentSpace space{nullptr, overflow.c_str(), 0, true, kSegmentBytes};
  const uint64_t before = SegmentFile::bytes_held();
  SegmentFile file;
  REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kGood);
  put_mark(file, 1);
  REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kFlushed);
  put_mark(file, 2);
  CHECK(SegmentFile::bytes_held() - before == kSegmentBytes);
  CHECK(marks(file) == std::vector<uint64_t>{1, 2});
  file.remove(space, 0, true);
  CHECK(SegmentFile::bytes_held() == before);
}

TEST_CASE("the last segment of a removed file remains usable for its writers") {
  const SegmentSpace space;
  SegmentFile file;
  REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kGood);
  uint64_t* const begin = file.begin();
  uint64_t* const end = file.end();
  file.remove(space, 0, true);
  for (uint64_t* word = begin; word < end; ++word) *word = 1;
  CHECK(*begin == 1);
}

TEST_CASE("signals of the program do not end recording") {
  // A timer that interrupts every system call that lets itself be: allocating 64 MiB takes some
  // milliseconds, the timer fires each 100 us.
  struct sigaction action = {}, old;
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, &old);
  const itimerval fast{{0, 100}, {0, 100}}, none{};
  setitimer(ITIMER_REAL, &fast, nullptr);
  const SegmentSpace space;
  SegmentFile file;
  const auto result = file.extend(space, 0, size_t{64} << 20);
  setitimer(ITIMER_REAL, &none, nullptr);
  sigaction(SIGALRM, &old, nullptr);
  CHECK(result == SegmentFile::Result::kGood);
  file.remove(space, 0, true);
}

TEST_CASE("where no memory can be mapped, segments are moved and the last one is used again") {
  const TemporaryDirectory directory;
  const std::string overflow = directory.path() / "overflow";
  const SegmentSpace space{directory.path().c_str(), overflow.c_str(), 0, true, uint64_t{1} << 30};
  SegmentFile file;
  for (const uint64_t enter : {10, 20, 30}) {
    REQUIRE(file.extend(space, 0, 0) == SegmentFile::Result::kGood);
    put_mark(file, enter);
  }
  // From here on mmap() fails, as under a batch system's limit.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit none{1, before.rlim_max};
  SegmentFile::Result results[2];
  setrlimit(RLIMIT_AS, &none);
  results[0] = file.extend(space, 0, 0);
  put_mark(file, 40);
  results[1] = file.extend(space, 0, 0);
  put_mark(file, 50);
  setrlimit(RLIMIT_AS, &before);
  for (const auto result : results) CHECK(result == SegmentFile::Result::kFlushed);
  CHECK(marks(file) == std::vector<uint64_t>{10, 20, 30, 40, 50});
  file.remove(space, 0, true);
}

TEST_CASE("a complete segment that is no more as it was written is left out") {
  const TemporaryDirectory directory;
  const std::string memory = directory.path();
  const SegmentSpace space{memory.c_str(), nullptr, 0, true, uint64_t{1} << 30};
  SegmentFile file;
  for (uint64_t mark = 1; mark < 4; ++mark) {
    REQUIRE(file.extend(space, 0, 1000) == SegmentFile::Result::kGood);
    put_mark(file, mark);
  }
  const auto kept = [&](uint64_t& dropped, uint64_t& at) {
    ThreadRecords records(0, file.file(), file.overflow_file());
    int damaged_file = -1;
    dropped = records.drop_damaged(damaged_file, at);
    if (dropped > 0) CHECK(damaged_file == file.file());
    std::vector<uint64_t> found;
    CHECK(records.for_each(0, [&](const record::Record& r) { found.push_back(r.enter); }));
    return found;
  };
  uint64_t dropped = 0, at = 0;
  CHECK(kept(dropped, at) == std::vector<uint64_t>{1, 2, 3});
  CHECK(dropped == 0);
  // A bit of the second one's last word, then of the third one, which is in use: undetectable.
  const auto flip = [&](size_t place) {
    char byte = 0;
    REQUIRE(pread(file.file(), &byte, 1, static_cast<off_t>(place)) == 1);
    byte = static_cast<char>(byte ^ 4);
    REQUIRE(pwrite(file.file(), &byte, 1, static_cast<off_t>(place)) == 1);
  };
  flip(2 * kSegmentBytes - 1);
  flip(3 * kSegmentBytes - 1);
  CHECK(kept(dropped, at) == std::vector<uint64_t>{1, 3});
  CHECK(dropped == 1);
  CHECK(at == kSegmentBytes);
  // A header's clock is part of it.
  flip(2 * kSegmentBytes - 1);
  flip(offsetof(SegmentHeader, nanoseconds));
  CHECK(kept(dropped, at) == std::vector<uint64_t>{2, 3});
  CHECK(at == 0);
  file.remove(space, 0, true);
}

TEST_CASE("a record file that cannot be created or extended reports the reason") {
  const TemporaryDirectory place;
  const std::string directory = place.path(), missing = place.path() / "none";
  SegmentFile taken, nowhere, limited;
  char name[4096];
  segment_file_name(name, sizeof name, directory.c_str(), 0, 0);
  std::ofstream(name) << "of an earlier run";
  const SegmentSpace space{directory.c_str(), nullptr, 0, true, uint64_t{1} << 30};
  CHECK(taken.extend(space, 0, 1000) == SegmentFile::Result::kFailed);
  CHECK(errno == EEXIST);
  const SegmentSpace other{missing.c_str(), nullptr, 0, true, uint64_t{1} << 30};
  CHECK(nowhere.extend(other, 0, 1000) == SegmentFile::Result::kFailed);
  CHECK(errno == ENOENT);

  // SIGXFSZ would end this process.
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit one{kSegmentBytes, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &one) == 0);
  const auto first = limited.extend(space, 1, 1000);
  const auto second = limited.extend(space, 1, 1000);
  const int error = errno;
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK(first == SegmentFile::Result::kGood);
  CHECK(second == SegmentFile::Result::kFailed);
  CHECK(error == EFBIG);
  CHECK(why_stopped(error) == "the limit on the size of files (ulimit -f) ended recording");
  CHECK(why_stopped(EEXIST) == "records could not be written (File exists)");
  limited.remove(space, 1, true);
}

TEST_CASE("the program's handling of the file size limit is restored after a write of the tracer") {
  static volatile int signals;
  signals = 0;
  const auto before = std::signal(SIGXFSZ, [](int) { signals = signals + 1; });
  sigset_t one, mask, pending;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  {
    const NoFileSizeSignal quiet;
    raise(SIGXFSZ);  // as the kernel does, to this thread
  }
  CHECK(signals == 0);
  raise(SIGXFSZ);
  CHECK(signals == 1);
  // Signals blocked by the program remain pending, and its mask does not change.
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  raise(SIGXFSZ);
  { const NoFileSizeSignal quiet; }
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 1);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGXFSZ) == 1);
  CHECK(signals == 1);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  CHECK(signals == 2);
  std::signal(SIGXFSZ, before);
}
