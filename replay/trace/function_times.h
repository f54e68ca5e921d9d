#pragma once

// The time in functions of the program between MPI calls. Of chosen functions by gap, for scenarios
// that change their speed; of all in total, for reports; and of all with the places of calls, for
// observers (store/call_places.h). Where it is not needed, the cost is one check of a pointer.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/partial_array.h"
#include "replay/trace/call_tree.h"

namespace rubato {

/// Functions that scenarios may choose in one run; each is a bit.
inline constexpr size_t kMostFunctions = 64;

/// Ticks that a timeline spent in some of the chosen functions (nested, if there are several)
/// between two calls.
struct FunctionTime {
  uint64_t event;      ///< of the next call, or of the last record (Call::event)
  uint64_t functions;  ///< a bit each
  double ticks;
  uint32_t probes = 0;  ///< functions whose enter or leave was recorded in `ticks`
};

/// All function times of a run.
class FunctionTimes {
 public:
  /// For `timelines` timelines, of which those in `local` have times; null: all.
  explicit FunctionTimes(int timelines, const std::vector<int>* local = nullptr)
      : timelines_(timelines) {
    timelines_.make(local);
  }

  /// In the order of events.
  std::vector<FunctionTime>& of(int timeline) { return timelines_[timeline]; }
  const std::vector<FunctionTime>& of(int timeline) const { return timelines_[timeline]; }
  /// Calls `visit` with the number and the times of each timeline that may have any.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto [first, end] : timelines_.made()) {
      for (size_t i = first; i < end; ++i) visit(static_cast<int>(i), timelines_[i]);
    }
  }
  /// The times in the gap before the call at `event`.
  std::span<const FunctionTime> before(int timeline, uint64_t event) const;

 private:
  PartialArray<std::vector<FunctionTime>> timelines_;
};

/// A function of the program on record.
struct FunctionName {
  std::string name;
  std::string file;   ///< "" if the archive does not have it
  uint32_t line = 0;  ///< 0: likewise

  std::string place() const;  ///< "solve (app.c:41)": the file without its directories
};

/// Recorded compute by timeline and call path: from the end of MPI_Init to MPI_Finalize. Timelines
/// of other processes are absent.
using FunctionTotals = std::map<int, CallTree>;

/// No function, or no call site.
inline constexpr uint32_t kNoPlace = UINT32_MAX;

/// Ticks between two calls in which one function was the innermost.
struct FunctionPart {
  uint32_t function = kNoPlace;  ///< among all functions of the program
  double ticks = 0;
  uint32_t probes = 0;              ///< as FunctionTime::probes
  uint32_t path = CallTree::kRoot;  ///< its node among the call paths of the timeline
};

/// A line of the program that makes MPI calls, or with call paths a call of any function in its
/// calling context.
struct CallSite {
  std::string file;              ///< or "MODULE (FUNCTION+0xOFFSET)"; "": not known
  uint32_t line = 0;             ///< 0: not known
  uint32_t function = kNoPlace;  ///< that makes the call; kNoPlace: no call paths are recorded
  uint32_t caller = kNoPlace;    ///< where that function is called: another call site
};

/// Samples of one timeline in one function, in ticks of the processor time for which they count.
struct SampleSum {
  double exclusive = 0;  ///< in the function itself
  double inclusive = 0;  ///< and in the functions that it calls
  uint64_t exclusive_samples = 0, inclusive_samples = 0;
};
struct SampleTotals {
  double period = 0;           ///< ticks, as asked for
  bool are_functions = false;  ///< functions are on record by samples only
  std::map<int, std::unordered_map<uint32_t, SampleSum>> sums = {};  ///< by timeline and function
};

/// A function as it is called here.
struct CalledFunction {
  uint64_t chosen = 0;  ///< its bits among functions that scenarios may choose; 0: not chosen
  uint32_t number = 0;  ///< among all
  bool operator==(const CalledFunction&) const = default;
};

/// A FunctionPart of this function or a later one is a gap whose functions are known from samples:
/// of kind `function - kFirstGapKind` (PlaceSink::gap_kinds()).
inline constexpr uint32_t kFirstGapKind = uint32_t{1} << 31;

/// Takes the places of calls, in the order of events within a timeline.
class PlaceSink {
 public:
  /// At `event` a call begins in `function`, on the call path `path`, made at `site`. `before`: the
  /// functions of the timeline since the previous call, as far as recorded.
  virtual void add(int timeline, uint64_t event, uint32_t function, uint32_t path, uint32_t site,
                   std::span<const FunctionPart> before) = 0;
  /// After the calls of a timeline: for each kind of gaps the functions in them, in order;
  /// their `ticks` are shares of a gap.
  virtual void gap_kinds(int timeline, std::vector<std::vector<FunctionPart>> kinds) = 0;
  /// After the calls of a timeline: the call paths, by number.
  virtual void call_paths(int timeline, const CallTree& paths) = 0;
  /// The calls of a timeline will be added again from the start.
  virtual void forget(int timeline) = 0;

 protected:
  ~PlaceSink() = default;
};

/// The function data to be collected; each may be null.
struct FunctionWatch {
  FunctionTimes* times = nullptr;
  FunctionTotals* totals = nullptr;  ///< with an entry for each timeline that is read
  PlaceSink* places = nullptr;
  SampleTotals* samples = nullptr;  ///< likewise

  bool any() const { return times || totals || places || samples; }
};

/// True when `wanted` names the recorded function `name`: the whole name, or the name without
/// parameters.
bool is_function(const std::string& name, const std::string& wanted);

}  // namespace rubato
