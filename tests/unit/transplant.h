#pragma once

// The result of `measured` for a recording in which one rank computes longer, or shorter, in one
// place.

#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/matching/lock_order.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/sources/text_source.h"
#include "tests/unit/recorded_minima.h"

namespace rubato {

/// The stretch of compute of kMarked ticks, which no other one has, is `delta` longer.
class Delayed : public MeasuredRules<1> {
 public:
  static constexpr bool kMayBeDivided = false;
  Delayed(const RecordedMinima& minima, const Placement& placement, const EagerLimits& limits,
          double delta)
      : MeasuredRules<1>({MeasuredLane{}}, minima, placement, limits), delta_(delta) {}
  using Base = MeasuredRules<1>;
  Lanes<1> compute(double recorded, bool before_mpi, uint32_t functions) {
    Lanes<1> ticks = Base::compute(recorded, before_mpi, functions);
    if (recorded == kMarked) ticks += delta_;
    return ticks;
  }
  static constexpr double kMarked = 7777;

 private:
  double delta_;
};

struct Leaves : Observer<1> {
  std::vector<std::vector<double>> by_rank;
  explicit Leaves(int ranks) : by_rank(ranks) {}
  void call(int rank, const Call&, const Block&, const Lanes<1>&, double, const Lanes<1>&,
            const Lanes<1>& leave) override {
    by_rank[rank].push_back(leave[0]);
  }
};

/// Leaves of all calls, by rank, on `measured` with `delta` added to the marked stretch. Sends of
/// more bytes than `eager_limit` waited for their receivers.
inline std::vector<std::vector<double>> transplant(
    const std::string& text, double delta,
    double eager_limit = std::numeric_limits<double>::infinity()) {
  const auto source = parse_text_trace(text);
  const Placement placement(source->definitions().node_of_rank);
  EagerLimits limits;
  limits.bytes.fill(eager_limit);
  const LockOrder locks(*source);
  const RecordedMinima minima = minima_of(*source, placement, limits, &locks);
  Leaves leaves(source->definitions().ranks());
  Delayed rules(minima, placement, limits, delta);
  replay_calls(*source, rules, {.observers = {&leaves}, .locks = &locks});
  return leaves.by_rank;
}

}  // namespace rubato
