// The engine for one model with its critical path.

#include "replay/engine/engine.h"
#include "replay/rules/origin_rules.h"

namespace rubato {

template ReplayOutcome Replay<OriginRules>::run();

}  // namespace rubato
