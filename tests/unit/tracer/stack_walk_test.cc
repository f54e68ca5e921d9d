// Walks over the stack against glibc's backtrace().
#include "tracer/stack/stack_walk.h"

#include <alloca.h>
#include <execinfo.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace rubato {
namespace {

/// Frames of backtrace() that are not in the walk: the caller; AddressSanitizer adds its own.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kOwnFrames = 2;
#else
constexpr size_t kOwnFrames = 1;
#endif

/// Compares here; the caller of this function is the first of the walk.
struct Judge {
  std::unique_ptr<StackWalk> walk = std::make_unique<StackWalk>();
  int same = 0, other = 0;

  [[gnu::noinline]] void compare() {
    void* expected[StackWalk::kMostFrames + 10];
    const int depth = backtrace(expected, StackWalk::kMostFrames + 10);
    bool ended = false;
    const auto frames = walk->walk(WalkStart::here(), false, ended);
    const auto all = static_cast<size_t>(depth) - kOwnFrames;
    bool equal = frames.size() == std::min(all, StackWalk::kMostFrames) &&
                 ended == (all <= StackWalk::kMostFrames);
    for (size_t i = 0; equal && i < frames.size(); ++i)
      equal = frames[i] == reinterpret_cast<uint64_t>(expected[i + kOwnFrames]);
    ++(equal ? same : other);
  }
};
Judge* judge = nullptr;

#define KEEP asm volatile("" : : : "memory")

[[gnu::noinline]] void recurse(int depth) {
  if (depth == 0)
    judge->compare();
  else
    recurse(depth - 1);
  KEEP;
}

[[gnu::noinline]] void with_alloca(int n) {
  char* p = static_cast<char*>(alloca(static_cast<size_t>(n) * 16 + 1));
  std::memset(p, 0, 1);
  asm volatile("" : : "r"(p) : "memory");
  judge->compare();
  asm volatile("" : : "r"(p) : "memory");
}

[[gnu::noinline]] void realigned(int n) {
  alignas(64) char p[256];
  asm volatile("" : : "r"(p) : "memory");
  with_alloca(n);
  asm volatile("" : : "r"(p) : "memory");
}

int compare_numbers(const void* a, const void* b) {
  judge->compare();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

}  // namespace

TEST_CASE("return addresses are those of backtrace()") {
  if (!frame_rules_usable()) {
    WARN("this glibc has no _dl_find_object()");
    return;
  }
  Judge here;
  judge = &here;
  here.walk->use_own_stack();
  for (int pass = 0; pass < 2; ++pass) {  // the second one with known rules
    for (const int depth : {0, 1, 7, 100, 400}) recurse(depth);
    for (int n = 0; n < 50; n += 7) realigned(n);
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof numbers[0], compare_numbers);
  }
  CHECK(here.other == 0);
  CHECK(here.same > 2 * (5 + 8));
}

TEST_CASE("a stack that is not the thread's is not read") {
  Judge here;
  judge = &here;
  here.walk->use_own_stack();
  std::thread([&] {
    bool ended = true;
    CHECK(here.walk->walk(WalkStart::here(), false, ended).empty());
    CHECK(!ended);
    here.walk->use_own_stack();
    recurse(3);
  }).join();
#ifndef __SANITIZE_ADDRESS__  // which starts threads in frames of its own
  CHECK(here.other == 0);
#endif
}

}  // namespace rubato
