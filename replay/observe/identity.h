#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/observe/results.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The clock of one rank before and after a replay, as straight pieces between the ends of its
/// calls. Records of other locations of the process (threads, GPU streams) move with it.
class Warp {
 public:
  /// The recorded time `from` became `to`; in order.
  void add(double from, double to) { knots_.push_back({from, to}); }

  /// Where a record at `time` goes. Before the first knot and after the last one it keeps its
  /// distance.
  double operator()(double time) const;

 private:
  struct Knot {
    double from, to;
  };
  std::vector<Knot> knots_;
};

/// Where a record of a call goes: what lies before the blocking point keeps its distance to the
/// enter, what lies behind it to the leave, both inside the new call; compute in between is
/// stretched evenly.
double retimed(const Record& record, const Call& call, double recorded_before, double clock_before,
               double enter, double leave);

/// Compares, record by record, the replayed with the recorded time: `measured` must give the
/// recording back.
class IdentityCheck : public Observer<1> {
 public:
  explicit IdentityCheck(const TraceDefinitions& trace);

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  /// Compares the records of the side locations too, and returns what was found.
  IdentityResult finish(EventSource& source);

 private:
  /// True when the two differ, which is counted.
  bool differs(double recorded, double replayed);

  const TraceDefinitions* trace_;
  std::vector<Warp>
      warps_;  ///< by rank, of the main thread; filled only where the process has side locations
  std::vector<char> has_side_location_;
  IdentityResult result_;
};

}  // namespace rubato
