#include "models/statistics/least_squares.h"

#include <Eigen/QR>

namespace rubato {

Eigen::VectorXd least_squares(const Eigen::MatrixXd& design, const Eigen::VectorXd& target) {
  return design.colPivHouseholderQr().solve(target);
}

std::optional<Eigen::VectorXd> determined_least_squares(const Eigen::MatrixXd& design,
                                                        const Eigen::VectorXd& target,
                                                        double dependent) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(design);
  qr.setThreshold(dependent);
  if (qr.rank() < design.cols()) return std::nullopt;
  return qr.solve(target);
}

Eigen::MatrixXd inverse_of_squares(const Eigen::MatrixXd& design) {
  return (design.transpose() * design).completeOrthogonalDecomposition().pseudoInverse();
}

}  // namespace rubato
