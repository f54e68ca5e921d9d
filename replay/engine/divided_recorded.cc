// The engine for the passes that follow the recording, divided among processes.

#include "replay/engine/engine.h"
#include "replay/rules/measured_rules.h"
#include "replay/rules/recorded_minima.h"

namespace rubato {

template class Replay<Divided<MinimaRules>>;
template class Replay<Divided<MeasuredRules<1>>>;
template class Replay<Divided<MeasuredRules<4>>>;
template class Replay<Divided<MeasuredRules<16>>>;

}  // namespace rubato
