// The engine for the passes that follow the recording.

#include "replay/engine.h"
#include "replay/logical_clock.h"
#include "replay/measured_rules.h"
#include "replay/received_sends.h"
#include "replay/survey.h"

namespace rubato {

template class Replay<ReceiverRules>;
template class Replay<SurveyRules>;
template class Replay<LogicalClockRules>;
template class Replay<MeasuredRules<1>>;
template class Replay<MeasuredRules<4>>;
template class Replay<MeasuredRules<16>>;

}  // namespace rubato
