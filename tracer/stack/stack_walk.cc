#include "tracer/stack/stack_walk.h"

#include <pthread.h>

#include <atomic>

namespace rubato {
inline namespace tracing {
namespace {

/// Number of calls of forget_rules().
std::atomic<uint32_t> forgotten{0};

uint64_t word_at(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

/// A return address without the signature that programs of aarch64 may give it on the stack
/// (-mbranch-protection).
uint64_t without_signature(uint64_t return_address) {
#ifdef __aarch64__
  register uint64_t address __asm__("x30") = return_address;
  __asm__("hint #7" : "+r"(address));  // xpaclri
  return address;
#else
  return return_address;
#endif
}

}  // namespace

void StackWalk::forget_rules() {
  forgotten.fetch_add(1, std::memory_order_relaxed);
}

void StackWalk::use_own_stack() {
  stack_begin_ = stack_end_ = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
    stack_begin_ = reinterpret_cast<uint64_t>(lowest);
    stack_end_ = stack_begin_ + bytes;
  }
  pthread_attr_destroy(&attributes);
}

FrameRule& StackWalk::miss(size_t home, uint64_t return_address) {
  size_t at = home;
  while (at < home + kProbes && known_[at].address != 0) ++at;
  if (at == home + kProbes) at = home + next_victim_++ % kProbes;
  uint64_t function;
  known_[at] = {return_address, find_frame_rule(return_address - 1, function)};
  return known_[at].rule;
}

FrameRule StackWalk::rule_of(uint64_t return_address) {
  const size_t home = return_address * 0x9e3779b97f4a7c15u >> (64 - kTableBits);
  for (size_t at = home; at < home + kProbes; ++at) {
    if (known_[at].address == return_address) [[likely]]
      return known_[at].rule;
  }
  return miss(home, return_address);
}

std::span<uint64_t> StackWalk::walk(const WalkStart& start, bool is_exact, bool& ended) {
  if (const uint32_t now = forgotten.load(std::memory_order_relaxed); now != generation_) {
    generation_ = now;
    known_.fill({});
    before_.fill({});
  }
  ended = false;
  size_t count = 0;
  uint64_t stack = start.stack;
  uint64_t base = start.base;
  if (stack < stack_begin_ || stack >= stack_end_) return {};  // a stack of the program's own
  FrameRule rule;
  if (is_exact) {
    uint64_t function;
    rule = find_frame_rule(start.address, function);
  } else {
    rule = rule_of(start.address);
  }
  while (true) {
    uint64_t cfa = static_cast<uint64_t>(int64_t{rule.cfa_offset});
    switch (rule.cfa) {
      case FrameRule::Cfa::kFromStack:
        cfa += stack;
        break;
      case FrameRule::Cfa::kFromBase:
        if (base == 0) {  // the outermost frame of aarch64
          ended = count > 0;
          return {frames_.data(), count};
        }
        cfa += base;
        break;
      case FrameRule::Cfa::kLoadFromBase:
      case FrameRule::Cfa::kLoadFromStack:
        cfa += rule.cfa == FrameRule::Cfa::kLoadFromBase ? base : stack;
        if (cfa < stack || cfa > stack_end_ - 8 || cfa % 8 != 0) return {frames_.data(), count};
        cfa = word_at(cfa);
        break;
      case FrameRule::Cfa::kUnknown:
        ended = count > 0;
        return {frames_.data(), count};
    }
    // The caller's frame is above, and on the same stack.
    if (cfa < stack + 8 || cfa > stack_end_ || cfa % 8 != 0) break;
    const uint64_t below = cfa - stack;
    const uint64_t address = without_signature(word_at(cfa - 8));
    if (rule.base == FrameRule::Base::kSavedAtCfa) {
      const auto back = static_cast<uint64_t>(-int64_t{rule.base_offset});
      if (back > below || back < 8) break;
      base = word_at(cfa - back);
    } else if (rule.base == FrameRule::Base::kSavedAtBase) {
      const uint64_t place = base + static_cast<uint64_t>(int64_t{rule.base_offset});
      if (place < stack || place > cfa - 8) break;
      base = word_at(place);
    } else if (rule.base == FrameRule::Base::kLost) {
      base = 0;
    }
    stack = cfa;
    if (address == 0) {
      ended = true;
      break;
    }
    // Mostly the frames are those of the previous walk: then the next load need not wait for a
    // search.
    Known& before = before_[count];
    if (before.address != address) [[unlikely]]
      before = {address, rule_of(address)};
    rule = before.rule;
    frames_[count++] = address;
    if (count == kMostFrames) break;
  }
  return {frames_.data(), count};
}

}  // namespace tracing
}  // namespace rubato
