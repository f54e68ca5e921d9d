#pragma once

// Eigen's solvers are half a minute of compiling when each user has its own: they are here once.

#include <Eigen/Core>
#include <optional>

namespace rubato {

/// The x with the least |design x - target|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& design, const Eigen::VectorXd& target);

/// The same; absent where columns of `design`, of one length, depend on each other but for a part
/// `dependent`.
std::optional<Eigen::VectorXd> determined_least_squares(const Eigen::MatrixXd& design,
                                                        const Eigen::VectorXd& target,
                                                        double dependent);

/// (design^T design)^-1; the pseudoinverse where columns depend on each other.
Eigen::MatrixXd inverse_of_squares(const Eigen::MatrixXd& design);

}  // namespace rubato
