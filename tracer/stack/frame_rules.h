#pragma once

#include <cstdint>

/// How to get from a frame of the stack to its caller's. On x86-64 from the unwind tables
/// (.eh_frame) that compilers emit, also into stripped programs and without frame pointers. Safe in
/// signal handlers: no lock, no allocation (the loader's _dl_find_object(), glibc 2.35 or newer).
/// On aarch64 from frame pointers (frame_pointers.cc).
namespace rubato {
inline namespace tracing {

/// The rule at one address. CFA: the caller's stack pointer behind the call; the return address is
/// the word below it.
struct FrameRule {
  enum class Cfa : uint8_t {
    kUnknown,        ///< the outermost frame, or not known
    kFromStack,      ///< stack pointer + offset
    kFromBase,       ///< rbp + offset
    kLoadFromBase,   ///< the word at rbp + offset
    kLoadFromStack,  ///< the word at the stack pointer + offset
  };
  enum class Base : uint8_t {
    kSame,         ///< the caller's rbp is unchanged
    kSavedAtCfa,   ///< it is at CFA + offset
    kSavedAtBase,  ///< it is at rbp + offset
    kLost,         ///< not known
  };
  int32_t cfa_offset = 0;
  int16_t base_offset = 0;
  Cfa cfa = Cfa::kUnknown;
  Base base = Base::kSame;
};

/// Whether rules can be found on this system.
bool frame_rules_usable();

/// The rule for the code at `address`, and where its function begins; 0: not known.
FrameRule find_frame_rule(uint64_t address, uint64_t& function);

}  // namespace tracing
}  // namespace rubato
