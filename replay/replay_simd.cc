// The engine for many models at once, for processors with wider instructions than the oldest. Built
// once for each kind of them, with its name as RUBATO_SIMD (CMakeLists.txt).
//
// Nothing compiled here may be called from anywhere else, where the processor may not have such
// instructions. So all that is inline or a template has internal linkage (-fno-weak), and all that
// can be called from outside stands below.

#include "replay/engine.h"
#include "replay/replay_wide.h"

namespace rubato::RUBATO_SIMD {

ReplayOutcome run(Replay<ModelRules<8>>& replay) {
  return replay.run();
}
ReplayOutcome run(Replay<ModelRules<16>>& replay) {
  return replay.run();
}
ReplayOutcome run(Replay<ModelRules<32>>& replay) {
  return replay.run();
}

}  // namespace rubato::RUBATO_SIMD
