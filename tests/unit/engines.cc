// The engine for the rules of tests, compiled once: tests include replay/engine/replay.h, which
// only declares it.

#include "replay/engine/engine.h"

#include "replay/rules/model_rules.h"
#include "replay/rules/recorded/measured_rules.h"
#include "tests/unit/lottery.h"
#include "tests/unit/transplant.h"

namespace rubato {

template ReplayOutcome Replay<Delayed>::run();
template ReplayOutcome Replay<Drawn<ModelRules<1>>>::run();
template ReplayOutcome Replay<Drawn<MeasuredRules<1>>>::run();

}  // namespace rubato
