// The engine for many models at once: see engine/wide.h.
//
// On x86-64 nothing compiled here may be called from anywhere else, where the processor may not
// have the instructions. So all that is inline or a template has internal linkage (-fno-weak, see
// CMakeLists.txt), and all that can be called from outside stands below.

#include "replay/engine/wide.h"

#include "replay/engine/engine.h"

namespace rubato {

ReplayOutcome run_wide(Replay<ModelRules<16>>& replay) {
  return replay.run();
}
ReplayOutcome run_wide(Replay<ModelRules<32>>& replay) {
  return replay.run();
}
ReplayOutcome run_wide(Replay<Divided<ModelRules<16>>>& replay) {
  return replay.run();
}
ReplayOutcome run_wide(Replay<Divided<ModelRules<32>>>& replay) {
  return replay.run();
}

}  // namespace rubato
