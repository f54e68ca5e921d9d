#pragma once

#include "models/platform/platform.h"

namespace rubato {

/// Relative standard error of MPI time for effects that models leave out. From the laboratory
/// (share/doc/accuracy.md): the intervals of 540 predictions held 83 % of the measured times with
/// 0.12, and hold some 90 % with this (Open MPI 93 %, MPICH 87 %). It was chosen on these.
inline constexpr double kModelError = 0.17;
/// Where loops of a calibration never differ there are none but those of the model's own rules
/// (share/doc/accuracy.md, the virtual laboratory).
inline constexpr double kModelErrorInSimulator = 0.02;

/// Relative standard error of the time in a collective of which the platform says nothing: the
/// library may choose another algorithm than the preset. With p ranks the messages of one follow
/// each other log p times, and of another p - 1 times; a half says that twice as long is possible.
inline constexpr double kGuessedAlgorithmError = 0.5;

/// True when the file states an uncertainty for each network: that of the model, or some segment of
/// T has one, at every level but self that takes time. Costs of zero are exact.
bool states_uncertainty(const Platform& platform);

/// The platform with all costs of messages, and its formulas of collectives, longer by `errors`
/// standard errors (below 0: shorter), all at once, since the samples of a calibration share their
/// errors. Processor time changes by no more than T at that size: one way is measured as a whole,
/// so T compensates for any further error of an overhead.
Platform deviated(const Platform& platform, double errors);

}  // namespace rubato
