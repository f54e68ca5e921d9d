#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/stack/frame_rules.h"

namespace rubato {
inline namespace tracing {

/// The registers from which a walk starts.
struct WalkStart {
  uint64_t address = 0;  ///< of the next instruction
  uint64_t stack = 0;    ///< rsp, sp
  uint64_t base = 0;     ///< rbp, x29

  /// Those of the calling function.
  [[gnu::always_inline]] static WalkStart here() {
    WalkStart start;
#ifdef __x86_64__
    asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                 : "=r"(start.address), "=r"(start.stack), "=r"(start.base));
#else
    asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
                 : "=r"(start.address), "=r"(start.stack), "=r"(start.base));
#endif
    return start;
  }
  /// Those of what a signal interrupted.
  static WalkStart interrupted(const ucontext_t& context) {
#ifdef __x86_64__
    const auto& registers = context.uc_mcontext.gregs;
    return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
            static_cast<uint64_t>(registers[REG_RBP])};
#else
    return {context.uc_mcontext.pc, context.uc_mcontext.sp, context.uc_mcontext.regs[29]};
#endif
  }
};

/// Walks over the frames of one thread's stack. Rules of frames are kept by return address, so a
/// walk over known code takes some ns a frame. Each walk reads the return addresses on the stack
/// anew, and reads nothing outside of the thread's stack. For one thread, also in its signal
/// handlers, but not in both at once.
class StackWalk {
 public:
  /// Frames beyond these, the outermost ones, are left out.
  static constexpr size_t kMostFrames = 256;

  /// The walked stack is that of the calling thread. Not for signal handlers.
  void use_own_stack();

  /// The return addresses of the frames around `start`, the innermost first. The caller's until
  /// the next walk. `is_exact`: the thread was interrupted at start.address, so that this is no
  /// return address. Sets `ended` if the outermost frame was reached.
  std::span<uint64_t> walk(const WalkStart& start, bool is_exact, bool& ended);

  /// Rules in the memory of unloaded libraries no longer hold: call it behind dlclose().
  static void forget_rules();

 private:
  struct Known {
    uint64_t address = 0;  ///< return address; 0: none
    FrameRule rule;
  };
  static constexpr unsigned kTableBits = 12;
  static constexpr size_t kProbes = 4;

  FrameRule rule_of(uint64_t return_address);
  FrameRule& miss(size_t home, uint64_t return_address);

  uint64_t stack_begin_ = 0;
  uint64_t stack_end_ = 0;
  uint32_t generation_ = 0;
  uint32_t next_victim_ = 0;
  std::array<uint64_t, kMostFrames> frames_{};
  std::array<Known, kMostFrames> before_{};  ///< of earlier walks, by number of the frame
  std::array<Known, (size_t{1} << kTableBits) + kProbes> known_{};
};

}  // namespace tracing
}  // namespace rubato
