#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "calibrate/clock/linear_clock.h"

namespace rubato {

/// Seconds of a visit of a length (a loop with its warm-up, its round trips and what both ends wait
/// for), by length: some that were measured, and straight lines between and beyond them.
class VisitCost {
 public:
  /// Adds a measured visit; longer messages never take less.
  void add(size_t bytes, double seconds);
  /// Seconds of a visit. At least one visit must have been added.
  double operator()(size_t bytes) const;

 private:
  std::map<size_t, double> seconds_;
};

/// The `wanted` lengths that `visits` of each can measure within `seconds`. Left out are first
/// lengths that are neither powers of two nor `needed`, then the longest ones; the three shortest
/// stay, since a curve needs as many.
std::set<size_t> affordable_lengths(const std::set<size_t>& wanted, const std::set<size_t>& needed,
                                    const VisitCost& cost, int visits, double seconds);

/// What it takes before the first collective is timed, seconds: the clocks of `nodes` are made one
/// (global_clock.cc: in each round of a binomial tree 30 times 20 questions, in 0.3 s at least; to
/// rank 0, questions of all nodes in turn). `round_trip`: seconds of a question and its answer.
double clock_seconds(int nodes, double round_trip, ClockMethod method = ClockMethod::kHca3);

/// Seconds of a round trip, where a barrier of so many ranks (2 at least) takes `seconds`: each of
/// its ceil(log2(ranks)) rounds is a message each way at once, half a round trip.
double round_trip_of_barrier(double seconds, int ranks);

/// "node ports: 11 of 57 lengths, the longest 128KiB"; "" if all are measured.
std::string left_out_text(const std::string& what, const std::set<size_t>& wanted,
                          const std::set<size_t>& measured);

}  // namespace rubato
