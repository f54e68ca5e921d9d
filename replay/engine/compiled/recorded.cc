// The engine for the passes that follow the recording.

#include "replay/engine/engine.h"
#include "replay/rules/received_sends.h"
#include "replay/rules/recorded/logical_clock.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/rules/recorded/recorded_minima.h"

namespace rubato {

template ReplayOutcome replay_calls(EventSource&, ReceiverRules&,
                                    const ReplaySetup<ReceiverRules::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, MinimaRules&,
                                    const ReplaySetup<MinimaRules::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, LogicalClockRules&,
                                    const ReplaySetup<LogicalClockRules::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, MeasuredRules<1>&,
                                    const ReplaySetup<MeasuredRules<1>::kLanes>&);
template ReplayOutcome replay_calls(EventSource&, MeasuredRules<4>&,
                                    const ReplaySetup<MeasuredRules<4>::kLanes>&);

}  // namespace rubato
