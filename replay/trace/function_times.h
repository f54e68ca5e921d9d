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
  uint32_t probes = 0;  ///< as FunctionTime::probes
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
/// By timeline and function.
using SampleTotals = std::map<int, std::unordered_map<uint32_t, SampleSum>>;

/// Takes the places of calls, in the order of events within a timeline.
class PlaceSink {
 public:
  /// At `event` a call begins in `function`, made at `site`. `before`: the functions of the
  /// timeline since the previous call, as far as recorded.
  virtual void add(int timeline, uint64_t event, uint32_t function, uint32_t site,
                   std::span<const FunctionPart> before) = 0;
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

/// Follows the records of one timeline.
class FunctionClock {
 public:
  FunctionClock(FunctionWatch watch, int timeline)
      : times_(watch.times ? &watch.times->of(timeline) : nullptr),
        tree_(watch.totals ? &watch.totals->at(timeline) : nullptr),
        places_(watch.places),
        samples_(watch.samples ? &watch.samples->at(timeline) : nullptr),
        timeline_(timeline) {}

  /// A function as it is called here.
  struct Function {
    uint64_t chosen = 0;  ///< its bits; 0: not chosen
    uint32_t number = 0;  ///< among all
    bool operator==(const Function&) const = default;
  };

  // Times in ticks.
  void enter_function(Function function, double time);
  void leave_function(Function function, double time);
  /// The program enters a call, or the tracer stops: the time so far belongs to the gap before
  /// `event`. `site`: the line that makes the call; `caller`: its function, unless one is open.
  void stop(uint64_t event, double time, uint32_t site = kNoPlace, uint32_t caller = kNoPlace);
  /// The thread was found in the last one of `path`; functions may occur several times.
  /// `is_all`: no functions are on record by enters and leaves.
  void sample(std::span<const uint32_t> path, double ticks, bool is_all);
  /// The program, or the tracer, resumes.
  void go(double time);
  /// The thread had no core for `ticks` since go(), at an unknown time: the loss is distributed
  /// over the functions in proportion to their time, in gaps and in total.
  void lose(double ticks, double time);
  /// MPI_Init is over: earlier time does not count in total.
  void begin_window();
  /// MPI_Finalize was entered: later time does not count either.
  void end_window() { tree_ = nullptr; }

 private:
  static constexpr size_t kMostParts = 32;  ///< functions in one gap; further ones are ignored

  /// An open function, and its node in the tree.
  struct Open {
    Function function;
    uint32_t node = CallTree::kRoot;
  };
  /// Ticks of a node since the last call.
  struct NodePart {
    uint32_t node;
    double ticks;
  };

  void take_time(double time);
  void add_part(uint32_t function, double ticks, uint32_t probes);
  void add_node_part(uint32_t node, double ticks, uint32_t probes);

  bool matters(Function function) const { return tree_ || places_ || function.chosen != 0; }

  std::vector<FunctionTime>* times_;
  CallTree* tree_;  ///< null: not wanted
  PlaceSink* places_;
  std::unordered_map<uint32_t, SampleSum>* samples_;
  int timeline_;
  std::vector<FunctionPart> sampled_;  ///< since the last call; unlike parts_ without losses
  std::vector<FunctionPart> parts_;    ///< since the last call, for places_
  std::vector<NodePart> node_parts_;   ///< likewise, for tree_
  std::vector<Open> open_;             ///< open functions, as far as needed, the innermost last
  std::vector<FunctionTime> gap_;      ///< since the last call
  uint32_t probes_ = 0;                ///< functions entered or left since the last take_time()
  int stopped_ = 0;                    ///< number of open calls
  double since_ = 0;
  double began_ = 0;  ///< time of the last go()
};

/// True when `wanted` names the recorded function `name`: the whole name, or the name without
/// parameters.
bool is_function(const std::string& name, const std::string& wanted);

}  // namespace rubato
