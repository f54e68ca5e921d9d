#pragma once

#include "models/platform/platform.h"

namespace rubato {

/// Relative standard error of the costs of messages due to effects that are not modelled. Chosen as
/// a share of MPI time on 540 predictions (share/doc/accuracy.md): their intervals contained 90 %
/// of the measured times (Open MPI 93 %, MPICH 87 %), with 0.12 83 %. As a share of costs, which
/// makes intervals no wider, it was not measured.
inline constexpr double kModelError = 0.17;
/// The same for a platform whose calibration had no noise, a simulator: only the model's own rules
/// err (share/doc/accuracy.md, the virtual laboratory).
inline constexpr double kModelErrorInSimulator = 0.02;

/// Relative standard error of the time in a collective that the platform does not describe: the
/// library may choose another algorithm than the preset. With p ranks one algorithm has log p
/// rounds and another p - 1; the value allows for twice the time.
inline constexpr double kGuessedAlgorithmError = 0.5;

/// From so many nodes on a calibration shows how nodes share the network. With two or three nodes
/// most networks look alike, and costs on more of them have kFewNodesError: sixteen nodes were
/// predicted from two with errors of up to 65 %.
inline constexpr int kNodesThatShare = 4;
inline constexpr double kFewNodesError = 0.33;

/// The number of nodes that took part in a calibration, from its entries of [measured]; 0 if
/// unknown.
int calibrated_nodes(const Provenance& measured);

/// The relative standard error of message costs on a platform: what its file states, or
/// kModelError. `measured_nodes`: of the calibration, where the run has more nodes than it can
/// speak for; else 0.
double model_error_of(const Platform& platform, int measured_nodes);
/// The largest value of model_error_of() for any run.
double largest_model_error(const Platform& platform);

/// True if the file states an uncertainty for each network: of the model, or of some segment of T
/// at every level but self that takes time. Costs of zero are exact.
bool states_uncertainty(const Platform& platform);

/// The platform with all costs of messages, and its formulas of collectives, longer by `errors`
/// standard errors (below 0: shorter), all at once, since the samples of a calibration share their
/// errors. Processor time changes by no more than T at that size: one way is measured as a whole,
/// so T compensates for any further error of an overhead.
Platform deviated(const Platform& platform, double errors);

/// The platform with all costs of messages, copies and reductions, and its formulas of collectives,
/// `factor` times as long. Cables with numbers of their own stay as they are.
Platform costlier(const Platform& platform, double factor);

}  // namespace rubato
