// The engine for the passes that follow the recording.

#include "replay/engine/engine.h"
#include "replay/rules/received_sends.h"
#include "replay/rules/recorded/logical_clock.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/rules/recorded/recorded_minima.h"

namespace rubato {

template ReplayOutcome Replay<ReceiverRules>::run();
template ReplayOutcome Replay<MinimaRules>::run();
template ReplayOutcome Replay<LogicalClockRules>::run();
template ReplayOutcome Replay<MeasuredRules<1>>::run();
template ReplayOutcome Replay<MeasuredRules<4>>::run();
template ReplayOutcome Replay<MeasuredRules<16>>::run();

}  // namespace rubato
