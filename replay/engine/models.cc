// The engine for machines that are models.

#include "replay/engine/engine.h"
#include "replay/rules/model_rules.h"

namespace rubato {

template class Replay<ModelRules<1>>;
template class Replay<ModelRules<4>>;

}  // namespace rubato
