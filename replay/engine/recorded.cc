// The engine for the passes that follow the recording.

#include "replay/engine/engine.h"
#include "replay/rules/logical_clock.h"
#include "replay/rules/measured_rules.h"
#include "replay/rules/received_sends.h"
#include "replay/rules/recorded_minima.h"

namespace rubato {

template class Replay<ReceiverRules>;
template class Replay<MinimaRules>;
template class Replay<LogicalClockRules>;
template class Replay<MeasuredRules<1>>;
template class Replay<MeasuredRules<4>>;
template class Replay<MeasuredRules<16>>;

}  // namespace rubato
