#pragma once

#include "models/cost/platform.h"

namespace rubato {

/// True when the file states an uncertainty for each network: some segment of T has one, at every
/// level but self that takes time. Costs of zero are exact.
bool states_uncertainty(const Platform& platform);

/// The platform with all costs of messages, and its formulas of collectives, longer by `errors`
/// standard errors (below 0: shorter), all at once, since the samples of a calibration share their
/// errors. Processor time changes by no more than T at that size: one way is measured as a whole,
/// so T compensates for any further error of an overhead.
Platform deviated(const Platform& platform, double errors);

}  // namespace rubato
