// Mutates inputs and checks that no target crashes, hangs, or throws an unexpected exception.
//
//   rubato-fuzz SHARE [--target NAME] [--seconds S] [--seed N] [--input FILE]
//
// SHARE is the folder of that name. Each target (targets.h) gets S seconds. What fails is written
// to fuzz-NAME-HASH; --input tries one file again. Without guidance by coverage: libfuzzer.cc has
// that.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/targets.h"

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // which reserves address space without end
#else
constexpr bool kSanitized = false;
#endif
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr unsigned kMostSeconds = 20;  // for one input
constexpr rlim_t kMostMemory = rlim_t{2} << 30;
constexpr int kInputsOfChild = 500, kInputsOfSlowChild = 100;

/// The current input of a child, shared with its parent.
struct Shared {
  uint64_t done;
  uint64_t size;
  char why[1000];
  char bytes[kMostBytes];
};

class Mutator {
 public:
  Mutator(const FuzzTarget& target, std::vector<std::string> seeds, uint64_t seed)
      : target_(&target), seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string bytes = pick(seeds_);
    for (uint64_t left = 1 + below(below(4) == 0 ? 30 : 4); left > 0; --left) change(bytes);
    if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
    return bytes;
  }

 private:
  uint64_t below(uint64_t end) { return end == 0 ? 0 : random_() % end; }
  const std::string& pick(const std::vector<std::string>& texts) {
    return texts[below(texts.size())];
  }

  void change(std::string& bytes) {
    const size_t at = below(bytes.size() + 1);
    const size_t length = below(below(3) == 0 ? bytes.size() - at + 1 : 12);
    switch (below(9)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
        break;
      case 4:
        bytes.insert(at, pick(target_->words));
        break;
      case 5:
        bytes.replace(at, std::min(length, bytes.size() - at), pick(target_->words));
        break;
      case 6: {  // of another one
        const std::string& other = pick(seeds_);
        bytes.insert(at, other.substr(below(other.size() + 1), length));
        break;
      }
      case 7: {  // a number gets another one
        const size_t digit = bytes.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const size_t end = std::min(bytes.find_first_not_of("0123456789.", digit), bytes.size());
        bytes.replace(digit, end - digit, pick(target_->words));
        break;
      }
      default:
        if (below(40) == 0)
          bytes.insert(at, std::string(below(70000), bytes.empty() ? 'x' : bytes[at / 2]));
    }
  }

  const FuzzTarget* target_;
  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

/// The failure of an input; "" if there is none.
std::string try_input(const FuzzTarget& target, const std::string& bytes) {
  try {
    target.read(bytes);
  } catch (const std::exception& error) {
    return std::string("throws ") + error.what();
  }
  return "";
}

/// In the child: inputs from number `first` on.
[[noreturn]] void work_on(const FuzzTarget& target, const std::string& share, uint64_t seed,
                          Shared& shared) {
  const rlimit no_core{0, 0}, memory{kMostMemory, kMostMemory};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!kSanitized) setrlimit(RLIMIT_AS, &memory);
  Mutator mutator(target, target.seeds(share), seed);
  const int inputs = target.is_slow ? kInputsOfSlowChild : kInputsOfChild;
  for (int i = 0; i < inputs; ++i) {
    const std::string bytes = mutator.next();
    shared.size = bytes.size();
    std::copy(bytes.begin(), bytes.end(), shared.bytes);
    alarm(kMostSeconds);
    const std::string why = try_input(target, bytes);
    if (!why.empty()) {
      std::snprintf(shared.why, sizeof shared.why, "%s", why.c_str());
      std::exit(3);
    }
    ++shared.done;
  }
  alarm(0);
  std::exit(0);  // with the end of its directory
}

int fuzz(const FuzzTarget& target, const std::string& share, double seconds, uint64_t seed) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  Shared& shared = *static_cast<Shared*>(memory);
  int failures = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (; passed() < seconds; ++seed) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) work_on(target, share, seed, shared);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const std::string bytes(shared.bytes, shared.size);
    char name[64];
    std::snprintf(name, sizeof name, "fuzz-%s-%016zx", target.name,
                  std::hash<std::string>()(bytes));
    std::ofstream(name, std::ios::binary) << bytes;
    const std::string how = !WIFSIGNALED(status)          ? std::string(shared.why)
                            : WTERMSIG(status) == SIGALRM ? "hangs"
                                                          : strsignal(WTERMSIG(status));
    std::printf("%s: %s: %s\n", target.name, name, how.c_str());
    ++failures;
    if (failures == 5) break;
  }
  std::printf("%s: %llu inputs in %.0f s, %d failures\n", target.name,
              static_cast<unsigned long long>(shared.done), passed(), failures);
  munmap(memory, sizeof(Shared));
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  std::string share, only, input;
  double seconds = 5;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--target")
      only = value();
    else if (word == "--seconds")
      seconds = std::atof(value());
    else if (word == "--seed")
      seed = std::strtoull(value(), nullptr, 10);
    else if (word == "--input")
      input = value();
    else
      share = word;
  }
  if (!input.empty()) {
    std::ifstream file(input, std::ios::binary);
    const std::string why =
        try_input(fuzz_target(only), {std::istreambuf_iterator<char>(file), {}});
    std::puts(why.empty() ? "fine" : why.c_str());
    return why.empty() ? 0 : 1;
  }
  int failures = 0;
  for (const FuzzTarget& target : fuzz_targets()) {
    if (only.empty() || only == target.name) failures += fuzz(target, share, seconds, seed);
  }
  return failures == 0 ? 0 : 1;
}
