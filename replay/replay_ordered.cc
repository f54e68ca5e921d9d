// The engine in the order of time.

#include "replay/replay_ordered.h"
#include "replay/engine.h"
#include "replay/ordered_rules.h"

namespace rubato {

template class Replay<OrderedRules>;

}  // namespace rubato
