// The engine for one model whose critical path is asked for.

#include "replay/engine/engine.h"
#include "replay/rules/origin_rules.h"

namespace rubato {

template ReplayOutcome Replay<OriginRules>::run();

}  // namespace rubato
