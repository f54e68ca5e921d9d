// The engine for many models at once: see engine/wide.h.
//
// On x86-64 code compiled here must not be called from other files, because the processor may lack
// the instructions. So inline functions and templates have internal linkage (-fno-weak, see
// CMakeLists.txt), and the function below is the only entry point.

#include "replay/engine/wide.h"

#include "replay/engine/engine.h"

namespace rubato {

ReplayOutcome replay_wide(EventSource& source, ModelRules<16>& rules,
                          const ReplaySetup<16>& setup) {
  return replay_calls(source, rules, setup);
}

}  // namespace rubato
