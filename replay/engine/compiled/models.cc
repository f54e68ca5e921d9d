// The engine for machines that are models.

#include "replay/engine/engine.h"
#include "replay/rules/model_rules.h"

namespace rubato {

template ReplayOutcome replay_calls(EventSource&, ModelRules<1>&,
                                    const ReplaySetup<ModelRules<1>::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, ModelRules<4>&,
                                    const ReplaySetup<ModelRules<4>::kLanes>&);

}  // namespace rubato
