// The engine for machines that are models, divided among processes.

#include "replay/engine/engine.h"
#include "replay/rules/model_rules.h"

namespace rubato {

template ReplayOutcome Replay<Divided<ModelRules<1>>>::run();
template ReplayOutcome Replay<Divided<ModelRules<4>>>::run();

}  // namespace rubato
