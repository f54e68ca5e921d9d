// The engine for many models at once: see engine/wide.h.
//
// On x86-64 code compiled here must not be called from other files, because the processor may lack
// the instructions. So inline functions and templates have internal linkage (-fno-weak, see
// CMakeLists.txt), and the functions below are the only entry points.

#include "replay/engine/wide.h"

#include "replay/engine/engine.h"

namespace rubato {

ReplayOutcome replay_wide(EventSource& source, ModelRules<16>& rules,
                          const ReplaySetup<ModelRules<16>::kLanes>& setup) {
  return replay_calls(source, rules, setup);
}
ReplayOutcome replay_wide(EventSource& source, ModelRules<32>& rules,
                          const ReplaySetup<ModelRules<32>::kLanes>& setup) {
  return replay_calls(source, rules, setup);
}

}  // namespace rubato
