// The engine for one model with its critical path.

#include "replay/engine/engine.h"
#include "replay/rules/model_rules.h"

namespace rubato {

template ReplayOutcome replay_calls(EventSource&, OriginRules&,
                                    const ReplaySetup<OriginRules::kLanes>&);

}  // namespace rubato
