// The engine for machines that are models.

#include "replay/engine/engine.h"
#include "replay/rules/model_rules.h"

namespace rubato {

template ReplayOutcome Replay<ModelRules<1>>::run();
template ReplayOutcome Replay<ModelRules<4>>::run();

}  // namespace rubato
