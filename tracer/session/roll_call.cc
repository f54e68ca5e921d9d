#include "tracer/session/roll_call.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "tracer/base/clock.h"
#include "tracer/base/file_limit.h"

namespace rubato {
inline namespace tracing {

namespace {

constexpr uint32_t kMostProcesses = 8192;  // of a node

enum Verdict : uint32_t { kOpen, kAll, kSome };

constexpr char kAllText[] = "all";
constexpr char kSomeText[] = "some";
constexpr char kDecision[] = "decision";

double seconds_now() {
  return static_cast<double>(Clock::monotonic()) * 1e-9;
}

/// Waits a little, each time longer: `least` to `most` seconds.
class Pause {
 public:
  Pause(double least, double most) : length_(least), most_(most) {}
  void operator()() {
    const auto nanoseconds = static_cast<long>(length_ * 1e9);
    const timespec time{0, nanoseconds};
    nanosleep(&time, nullptr);
    length_ = std::min(length_ * 1.5, most_);
  }

 private:
  double length_;
  double most_;
};

/// FNV-1a, since a job's name may hold characters that file names must not.
std::string hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%u-%016llx", geteuid(),
                static_cast<unsigned long long>(hash));
  return digits;
}

/// The files of the nodes. A node's file is named NODE.COUNT and lists its known ranks, one per
/// line.
class PostedFiles {
 public:
  PostedFiles(std::string directory, int rank) : directory_(std::move(directory)) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    // Ranks make it unique where containers share a name.
    node_ = std::string(host) + "." + std::to_string(rank);
  }

  /// Writes this node's file, even if it exists: a change of the directory makes NFS read it anew.
  /// False, and errno, on failure.
  bool post(uint32_t count, const std::vector<int>& ranks) {
    if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return false;
    const std::string fresh = path("new." + node_);
    const int file =
        open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return false;
    // The directory must belong to the user of these files and be closed to others.
    struct stat of_directory {
    }, of_file{};
    std::string text;
    for (const int rank : ranks) text += std::to_string(rank) + "\n";
    const bool written = lstat(directory_.c_str(), &of_directory) == 0 &&
                         fstat(file, &of_file) == 0 &&
                         write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    const bool ours = S_ISDIR(of_directory.st_mode) && of_directory.st_uid == of_file.st_uid &&
                      (of_directory.st_mode & 077) == 0;
    if (written && !ours) errno = EPERM;
    const std::string name = "node." + node_ + "." + std::to_string(count);
    if (!written || !ours || ::rename(fresh.c_str(), path(name).c_str()) != 0) {
      const int error = errno;
      unlink(fresh.c_str());
      errno = error;
      return false;
    }
    if (!name_.empty() && name_ != name) unlink(path(name_).c_str());
    if (name_.empty()) remove_older_than(of_file.st_mtime);
    name_ = name;
    return true;
  }

  /// How many processes all nodes have posted.
  uint64_t count() const {
    uint64_t sum = 0;
    for (const std::string& name : names()) {
      sum += std::strtoull(name.c_str() + name.rfind('.') + 1, nullptr, 10);
    }
    return sum;
  }

  std::vector<int> ranks() const {
    std::vector<int> ranks;
    for (const std::string& name : names()) {
      std::ifstream file(path(name));
      for (int rank; file >> rank;) ranks.push_back(rank);
    }
    return ranks;
  }

  Verdict decision() const {
    char text[16] = "";
    if (readlink(path(kDecision).c_str(), text, sizeof text - 1) < 0) return kOpen;
    return std::strcmp(text, kAllText) == 0 ? kAll : kSome;
  }

  /// True if this process made the decision.
  bool decide(Verdict verdict) const {
    return symlink(verdict == kAll ? kAllText : kSomeText, path(kDecision).c_str()) == 0;
  }

  /// This node has read the decision; the last one removes it.
  void leave() {
    if (name_.empty()) return;
    unlink(path(name_).c_str());
    if (!names().empty()) return;
    unlink(path(kDecision).c_str());
    rmdir(directory_.c_str());
  }

 private:
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::vector<std::string> names(const char* begin = "node.") const {
    std::vector<std::string> names;
    DIR* directory = opendir(directory_.c_str());
    if (directory == nullptr) return names;
    while (const dirent* entry = readdir(directory)) {
      if (std::strncmp(entry->d_name, begin, std::strlen(begin)) == 0) {
        names.emplace_back(entry->d_name);
      }
    }
    closedir(directory);
    return names;
  }

  /// Removes the files of a job that was killed. Both times are of the file system's clock.
  void remove_older_than(time_t now) const {
    constexpr time_t kLongAgo = 120;  // seconds
    for (const std::string& name : names("")) {
      struct stat info {};
      if (lstat(path(name).c_str(), &info) == 0 && !S_ISDIR(info.st_mode) &&
          info.st_mtime + kLongAgo < now) {
        unlink(path(name).c_str());
      }
    }
  }

  std::string directory_, node_, name_;
};

}  // namespace

/// The memory that the processes of a node share. New files are zeros.
struct RollCall::Board {
  std::atomic<uint32_t> announced;
  std::atomic<uint32_t> led;                   ///< 1: the node has a leader
  std::atomic<uint32_t> verdict;               ///< set by the leader
  std::atomic<uint32_t> done;                  ///< number of processes that know it
  std::atomic<int32_t> ranks[kMostProcesses];  ///< plus 1, of each announced process; 0: not known
};

RollCall::RollCall(const Places& places)
    : shared_(places.shared + "/.rubato-roll-call-" + hash_of(places.job)) {
  const NoFileSizeSignal limit;
  for (const std::string& directory : places.node) {
    open_board(directory + "/rubato-roll-call-" + hash_of(places.job));
    if (board_ != nullptr) break;
  }
  if (board_ == nullptr) return;
  slot_ = board_->announced.fetch_add(1);
}

RollCall::~RollCall() {
  if (board_ != nullptr)
    unlink(board_name_.c_str());  // processes that start later create a new one
  close_board();
}

/// Every process that uses the file has a shared lock on it. One that gets an exclusive lock is
/// alone: the file is new, or a killed job's.
void RollCall::open_board(const std::string& name) {
  board_name_ = name;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    struct stat info {};
    // Checked before writing: a file of that name may be a link made by another user.
    bool good = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                (info.st_mode & 077) == 0 && info.st_nlink <= 1;
    const bool alone = good && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (alone) {
      good = ftruncate(file, 0) == 0 && posix_fallocate(file, 0, sizeof(Board)) == 0;
    }
    // (Another one may clear the file between both locks. Nothing is in it yet.)
    while (good && flock(file, LOCK_SH) != 0) good = errno == EINTR;
    good = good && fstat(file, &info) == 0;
    if (good && info.st_nlink > 0 && static_cast<uint64_t>(info.st_size) == sizeof(Board)) {
      void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory != MAP_FAILED) {
        board_ = static_cast<Board*>(memory);
        file_ = file;
        return;
      }
    }
    if (alone && !good) unlink(name.c_str());
    close(file);
    if (!good) return;
  }
}

void RollCall::close_board() {
  if (board_ == nullptr) return;
  munmap(board_, sizeof(Board));
  close(file_);
  board_ = nullptr;
}

uint32_t RollCall::announced() const {
  return board_->announced.load();
}

std::vector<int> RollCall::ranks_here() const {
  std::vector<int> ranks;
  for (uint32_t i = 0; i < std::min(announced(), kMostProcesses); ++i) {
    if (const int32_t rank = board_->ranks[i].load(); rank > 0) ranks.push_back(rank - 1);
  }
  return ranks;
}

RollCall::Answer RollCall::answer(int rank, int size, double patience) {
  Answer answer;
  if (size == 1) {
    if (board_ != nullptr) unlink(board_name_.c_str());
    close_board();
    answer.all = true;
    return answer;
  }
  const NoFileSizeSignal limit;
  if (board_ == nullptr) {
    // The others do not see this process, so their answer is the same.
    answer.speaker = true;
    answer.ranks = {rank};
    answer.trouble = board_name_ + " cannot be made";
    return answer;
  }
  if (slot_ < kMostProcesses) board_->ranks[slot_].store(rank + 1);
  constexpr double kAfterDeath = 5;
  const double end = seconds_now() + patience + kAfterDeath;
  Pause pause(1e-4, 0.01);
  for (;;) {
    const uint32_t verdict = board_->verdict.load();
    if (verdict != kOpen) {
      answer.all = verdict == kAll;
      break;
    }
    uint32_t none = 0;
    if (board_->led.compare_exchange_strong(none, 1)) {
      answer = lead(rank, size, patience);
      break;
    }
    if (seconds_now() > end) {
      uint32_t open = kOpen;
      answer.speaker = board_->verdict.compare_exchange_strong(open, kSome);
      answer.ranks = ranks_here();
    } else {
      pause();
    }
  }
  // If all ranks are traced, the leader has removed the file already.
  const bool last = board_->done.fetch_add(1) + 1 >= board_->announced.load();
  if (last && !answer.all) unlink(board_name_.c_str());
  close_board();
  return answer;
}

RollCall::Answer RollCall::lead(int rank, int size, double patience) {
  Answer answer;
  const auto all = static_cast<uint64_t>(size);
  const double end = seconds_now() + patience;
  PostedFiles files(shared_, rank);
  Pause pause(0.01, 0.5);
  Verdict verdict = kOpen;
  while (verdict == kOpen) {
    const uint32_t here = announced();
    if (here >= all) {
      verdict = kAll;
      break;
    }
    const bool posted = files.post(here, ranks_here());
    answer.trouble =
        posted ? "" : shared_.substr(0, shared_.rfind('/')) + ": " + std::strerror(errno);
    verdict = files.decision();
    if (verdict != kOpen) break;
    if (posted && files.count() >= all && files.decide(kAll)) {
      verdict = kAll;
    } else if (seconds_now() > end) {
      answer.ranks = posted ? files.ranks() : ranks_here();
      // (If the link cannot be created, no other process can decide otherwise.)
      answer.speaker = !posted || files.decide(kSome) || errno != EEXIST;
      if (answer.speaker) verdict = kSome;
    }
    if (verdict == kOpen) pause();
  }
  if (verdict == kAll) unlink(board_name_.c_str());
  uint32_t open = kOpen;
  board_->verdict.compare_exchange_strong(open, verdict);
  answer.all = board_->verdict.load() == kAll;
  files.leave();
  return answer;
}

std::string name_ranks(const std::vector<int>& ranks) {
  std::string list;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t first = i;
    while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
    list += (list.empty() ? "" : ",") + std::to_string(ranks[first]);
    if (i > first) list += "-" + std::to_string(ranks[i]);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

std::string untraced_ranks(const RollCall::Answer& answer, int size) {
  std::vector<int> ranks = answer.ranks;
  std::sort(ranks.begin(), ranks.end());
  const std::string seen = ranks.empty() ? "this node" : name_ranks(ranks);
  if (!answer.trouble.empty()) {
    return "nothing is recorded: " + seen + " could not see whether the other ranks of " +
           std::to_string(size) + " are traced: " + answer.trouble;
  }
  std::vector<int> others;
  for (int rank = 0; rank < size; ++rank) {
    if (!std::binary_search(ranks.begin(), ranks.end(), rank)) others.push_back(rank);
  }
  return "nothing is recorded: of " + std::to_string(size) + " ranks, " + seen +
         (ranks.size() == 1 ? " is" : " are") + " traced and " + name_ranks(others) +
         (others.size() == 1 ? " is" : " are") +
         " not; start every rank under rubato trace, and with a program that the tracer can be "
         "loaded into (no static one)";
}

}  // namespace tracing
}  // namespace rubato
