#pragma once

// The time in chosen functions between MPI calls, for scenarios that make these functions faster or
// slower. If no scenario asks, the cost is one look at a pointer.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rubato {

/// Functions that scenarios may choose in one run; each is a bit.
inline constexpr size_t kMostFunctions = 64;

/// Ticks that a timeline spent in some of the chosen functions (one within the other, where there
/// are several) between two calls.
struct FunctionTime {
  uint64_t event;      ///< of the call behind, or of the last record (Call::event)
  uint64_t functions;  ///< bit by bit
  double ticks;
};

/// All of a run.
class FunctionTimes {
 public:
  explicit FunctionTimes(int timelines) : timelines_(timelines) {}

  /// In the order of events.
  std::vector<FunctionTime>& of(int timeline) { return timelines_[timeline]; }
  const std::vector<FunctionTime>& of(int timeline) const { return timelines_[timeline]; }
  int timelines() const { return static_cast<int>(timelines_.size()); }
  /// Of the gap before the call at `event`.
  std::span<const FunctionTime> before(int timeline, uint64_t event) const;

 private:
  std::vector<std::vector<FunctionTime>> timelines_;
};

/// Follows the records of one timeline.
class FunctionClock {
 public:
  explicit FunctionClock(std::vector<FunctionTime>& times) : times_(&times) {}

  // `functions`: the bits of a function, 0 for one that was not chosen. Times in ticks.
  void enter_function(uint64_t functions, double time);
  void leave_function(uint64_t functions, double time);
  /// The program enters a call, or the tracer stops: what was until now stands before `event`.
  void stop(uint64_t event, double time);
  /// And goes on.
  void go(double time);
  /// The thread had no core for `ticks` since go(), at an unknown place: each function loses its
  /// share.
  void lose(double ticks, double time);

 private:
  void take_time(double time);

  std::vector<FunctionTime>* times_;
  std::vector<uint64_t> open_;     ///< chosen functions it is in, the innermost last
  std::vector<FunctionTime> gap_;  ///< since the last call
  int stopped_ = 0;                ///< calls it is in
  double since_ = 0;
  double began_ = 0;  ///< when it went on
};

/// True when `wanted` names the recorded function `name`: the whole name, or the name without
/// parameters.
bool is_function(const std::string& name, const std::string& wanted);

}  // namespace rubato
