// The engine for rules that need the order of time.

#include "replay/engine/engine.h"
#include "replay/rules/ordered_rules.h"

namespace rubato {

template ReplayOutcome replay_calls(EventSource&, OrderedRules&,
                                    const ReplaySetup<OrderedRules::kLanes>&);

}  // namespace rubato
