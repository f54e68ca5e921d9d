// The engine for the passes that follow the recording, divided among processes.

#include "replay/engine/engine.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/rules/recorded/recorded_minima.h"

namespace rubato {

template ReplayOutcome Replay<Divided<MinimaRules>>::run();
template ReplayOutcome Replay<Divided<MeasuredRules<1>>>::run();
template ReplayOutcome Replay<Divided<MeasuredRules<4>>>::run();
template ReplayOutcome Replay<Divided<MeasuredRules<16>>>::run();

}  // namespace rubato
