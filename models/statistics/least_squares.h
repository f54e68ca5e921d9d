#pragma once

// Eigen's solvers cost half a minute of compile time per user, so they are compiled once, here.

#include <Eigen/Core>
#include <optional>

namespace rubato {

/// The x with the least |design x - target|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& design, const Eigen::VectorXd& target);

/// The same; absent if columns of `design`, scaled to one length, are linearly dependent up to a
/// part `dependent`.
std::optional<Eigen::VectorXd> determined_least_squares(const Eigen::MatrixXd& design,
                                                        const Eigen::VectorXd& target,
                                                        double dependent);

/// (design^T design)^-1; the pseudoinverse where columns depend on each other.
Eigen::MatrixXd inverse_of_squares(const Eigen::MatrixXd& design);

}  // namespace rubato
