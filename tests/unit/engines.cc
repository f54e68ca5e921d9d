// The engine for the rules of tests, compiled once: tests include replay/engine/replay.h, which
// only declares it.

#include "replay/engine/engine.h"

#include "replay/rules/measured_rules.h"
#include "replay/rules/model_rules.h"
#include "tests/unit/lottery.h"
#include "tests/unit/transplant.h"

namespace rubato {

template class Replay<Delayed>;
template class Replay<Drawn<ModelRules<1>>>;
template class Replay<Drawn<MeasuredRules<1>>>;

}  // namespace rubato
