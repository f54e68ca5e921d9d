// Frames of aarch64. Its procedure call standard gives each function that calls others a frame
// record, two words at x29: the caller's x29 and the return address. Compilers keep them unless
// told otherwise. A function without a record (a leaf, a prologue) that a signal interrupts hides
// its caller.

#include "tracer/stack/frame_rules.h"

namespace rubato {
inline namespace tracing {

bool frame_rules_usable() {
  return true;
}

FrameRule find_frame_rule(uint64_t, uint64_t& function) {
  function = 0;
  // The word below the CFA is the return address, the one below that the caller's x29.
  return {16, -16, FrameRule::Cfa::kFromBase, FrameRule::Base::kSavedAtCfa};
}

}  // namespace tracing
}  // namespace rubato
