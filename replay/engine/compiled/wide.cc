// The engine for many models at once: see engine/wide.h.
//
// On x86-64 code compiled here must not be called from other files, because the processor may lack
// the instructions. So inline functions and templates have internal linkage (-fno-weak, see
// CMakeLists.txt), and the functions below are the only entry points.

#include "replay/engine/wide.h"

#include "replay/engine/engine.h"

namespace rubato {

ReplayOutcome run_wide(Replay<ModelRules<16>>& replay) {
  return replay.run();
}
ReplayOutcome run_wide(Replay<ModelRules<32>>& replay) {
  return replay.run();
}

}  // namespace rubato
