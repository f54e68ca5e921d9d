// The engine for many models at once.

#include "replay/engine.h"
#include "replay/model_rules.h"

namespace rubato {

template class Replay<ModelRules<8>>;
template class Replay<ModelRules<16>>;
template class Replay<ModelRules<32>>;

}  // namespace rubato
