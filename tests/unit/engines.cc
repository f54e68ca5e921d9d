// The engine for the rules of tests, compiled once: tests include replay/engine/replay.h, which
// only declares it.

#include "replay/engine/engine.h"

#include "replay/rules/model_rules.h"
#include "replay/rules/recorded/measured_rules.h"
#include "tests/unit/lottery.h"
#include "tests/unit/transplant.h"

namespace rubato {

template ReplayOutcome replay_calls(EventSource&, Delayed&, const ReplaySetup<Delayed::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, Drawn<ModelRules<1>>&,
                                    const ReplaySetup<Drawn<ModelRules<1>>::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, Drawn<MeasuredRules<1>>&,
                                    const ReplaySetup<Drawn<MeasuredRules<1>>::kLanes>&);

}  // namespace rubato
