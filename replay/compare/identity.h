#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/observe/results.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The clock of one rank before and after a replay, as a piecewise linear function between the ends
/// of its calls. Records of other locations of the process (threads, GPU streams) move with it.
class Warp {
 public:
  /// The recorded time `from` became `to`; in order.
  void add(double from, double to) { knots_.push_back({from, to}); }

  /// The new time of a record at `time`. Before the first knot and after the last one it keeps its
  /// distance.
  double operator()(double time) const;

 private:
  struct Knot {
    double from, to;
  };
  std::vector<Knot> knots_;
};

/// The new time of a record. Inside a call, a record before the blocking point keeps its distance
/// to the enter, a record after it to the leave, both within the new call; compute between calls is
/// stretched evenly.
double retimed(const Record& record, const Call& call, double recorded_before, double clock_before,
               double enter, double leave);

/// Compares the replayed time of each record with the recorded one: `measured` must reproduce the
/// recording.
class IdentityCheck : public Observer<1> {
 public:
  explicit IdentityCheck(const TraceDefinitions& trace);

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  /// Also compares the records of side locations of ranks for which `is_local` is true, and returns
  /// the result.
  IdentityResult finish(
      EventSource& source,
      const std::function<bool(int rank)>& is_local = [](int) { return true; });

 private:
  /// Counts a difference and returns true if there is one.
  bool differs(double recorded, double replayed);

  const TraceDefinitions* trace_;
  std::vector<Warp>
      warps_;  ///< by rank, of the main thread; filled only where the process has side locations
  std::vector<char> has_side_location_;
  IdentityResult result_;
};

}  // namespace rubato
