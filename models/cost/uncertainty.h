#pragma once

#include "models/cost/platform.h"

namespace rubato {

/// True when the file says how far each network that it describes may be off: of every level but
/// self that takes time, a segment of T has an uncertainty. Costs of nothing are exact.
bool states_uncertainty(const Platform& platform);

/// The platform with all that it says of messages, and its formulas of collectives, `errors` of
/// their standard errors longer (below 0: shorter), all at once, as the samples of a calibration
/// are off together. Processor time gets no more than T of that size: one way is measured as a
/// whole, so what an overhead is off by beyond that, T makes up for.
Platform deviated(const Platform& platform, double errors);

}  // namespace rubato
