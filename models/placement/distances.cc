#include "models/placement/distances.h"

#include <cmath>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "models/placement/placement.h"

namespace rubato {
namespace {

class Checked : public Distances {
 public:
  Checked(std::unique_ptr<Distances> told, std::string model)
      : told_(std::move(told)), model_(std::move(model)) {
    const int count = told_->count();
    if (count < 1 || count > PairClass::kMostDistances) {
      refuse("has " + std::to_string(count) + " distances between nodes; it must be 1 to " +
             std::to_string(PairClass::kMostDistances));
    }
    for (int distance = 0; distance < count; ++distance) {
      const double latency = told_->latency(distance);
      if (latency >= 0 && std::isfinite(latency)) {
        latencies_.push_back(latency);
        continue;
      }
      refuse("has a latency of " + general_text(latency, 6) + " s at distance " +
             std::to_string(distance) + "; it must be a number from 0 on");
    }
  }

  int between(int from, int to) const override {
    const int distance = told_->between(from, to);
    if (distance < 0 || distance >= count()) [[unlikely]] {
      refuse("has distance " + std::to_string(distance) + " between ranks " + std::to_string(from) +
             " and " + std::to_string(to) + "; it must be 0 to " + std::to_string(count() - 1));
    }
    return distance;
  }
  int count() const override { return static_cast<int>(latencies_.size()); }
  double latency(int distance) const override { return latencies_[distance]; }

 private:
  [[noreturn]] [[gnu::cold]] void refuse(const std::string& what) const {
    throw InputError("contention.model \"" + model_ + "\" " + what);
  }

  std::unique_ptr<Distances> told_;
  std::string model_;
  std::vector<double> latencies_;
};

}  // namespace

std::unique_ptr<Distances> checked(std::unique_ptr<Distances> told, const std::string& model) {
  return told ? std::make_unique<Checked>(std::move(told), model) : nullptr;
}

}  // namespace rubato
