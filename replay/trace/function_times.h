#pragma once

// The time in functions of the program between MPI calls: of chosen ones gap by gap, for scenarios
// that make these functions faster or slower, of all in total, for reports, and of all with the
// places of calls, for observers (store/call_places.h). If nobody asks, the cost is one look at a
// pointer.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/partial_array.h"

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
  /// Of `timelines`, those that are `here` have some; null: all.
  explicit FunctionTimes(int timelines, const std::vector<int>* here = nullptr)
      : timelines_(timelines) {
    timelines_.make(here);
  }

  /// In the order of events.
  std::vector<FunctionTime>& of(int timeline) { return timelines_[timeline]; }
  const std::vector<FunctionTime>& of(int timeline) const { return timelines_[timeline]; }
  /// Calls `visit` with the times of each timeline that has any.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto [first, end] : timelines_.made()) {
      for (size_t i = first; i < end; ++i) visit(timelines_[i]);
    }
  }
  /// Of the gap before the call at `event`.
  std::span<const FunctionTime> before(int timeline, uint64_t event) const;

 private:
  PartialArray<std::vector<FunctionTime>> timelines_;
};

/// A function of the program on record.
struct FunctionName {
  std::string name;
  std::string file;   ///< "" where the archive does not say
  uint32_t line = 0;  ///< 0: likewise

  std::string place() const;  ///< "solve (app.c:41)": the file without its directories
};

/// Recorded compute by timeline and function, without that of the functions it calls: ticks, from
/// the end of MPI_Init to MPI_Finalize. A timeline has entries for the functions it was in; those
/// of other processes are not there.
using FunctionTotals = std::map<int, std::unordered_map<uint32_t, double>>;

/// No function, or no call site.
inline constexpr uint32_t kNoPlace = UINT32_MAX;

/// Ticks between two calls in which one function was the innermost.
struct FunctionPart {
  uint32_t function = kNoPlace;  ///< among all of the program
  double ticks = 0;
};

/// A line of the program that makes MPI calls.
struct CallSite {
  std::string file;   ///< or "MODULE (FUNCTION+0xOFFSET)"
  uint32_t line = 0;  ///< 0: not known
};

/// Takes the places of calls, in the order of events within a timeline.
class PlaceSink {
 public:
  /// At `event` a call begins in `function`, made at `site`; `before`: where the timeline was since
  /// the call before, as far as functions are on record.
  virtual void add(int timeline, uint64_t event, uint32_t function, uint32_t site,
                   std::span<const FunctionPart> before) = 0;
  /// All of a timeline comes again.
  virtual void forget(int timeline) = 0;

 protected:
  ~PlaceSink() = default;
};

/// What is asked for of functions; each may be null.
struct FunctionWatch {
  FunctionTimes* times = nullptr;
  FunctionTotals* totals = nullptr;  ///< with an entry for each timeline that is read
  PlaceSink* places = nullptr;

  bool any() const { return times || totals || places; }
};

/// Follows the records of one timeline.
class FunctionClock {
 public:
  FunctionClock(FunctionWatch watch, int timeline)
      : times_(watch.times ? &watch.times->of(timeline) : nullptr),
        totals_(watch.totals ? &watch.totals->at(timeline) : nullptr),
        places_(watch.places),
        timeline_(timeline) {}

  /// A function as it is called here.
  struct Function {
    uint64_t chosen = 0;  ///< its bits, 0 for one that was not chosen
    uint32_t number = 0;  ///< among all
    bool operator==(const Function&) const = default;
  };

  // Times in ticks.
  void enter_function(Function function, double time);
  void leave_function(Function function, double time);
  /// The program enters a call, or the tracer stops: what was until now stands before `event`.
  /// `site`: the line that makes the call.
  void stop(uint64_t event, double time, uint32_t site = kNoPlace);
  /// And goes on.
  void go(double time);
  /// The thread had no core for `ticks` since go(), at an unknown place: each function loses its
  /// share, of gaps and in total.
  void lose(double ticks, double time);
  /// MPI_Init is over: what was before does not count in total.
  void begin_window();
  /// MPI_Finalize was entered: nor does what follows.
  void end_window() { totals_ = nullptr; }

 private:
  static constexpr size_t kMostParts = 32;  ///< functions in one gap; more count as none

  void take_time(double time);
  double& total_of(uint32_t function);
  void add_part(uint32_t function, double ticks);

  bool matters(Function function) const { return totals_ || places_ || function.chosen != 0; }

  std::vector<FunctionTime>* times_;
  std::unordered_map<uint32_t, double>* totals_;
  uint32_t last_function_ = kNoPlace;  ///< of total_of()
  double* last_total_ = nullptr;
  PlaceSink* places_;
  int timeline_;
  std::vector<FunctionPart> parts_;  ///< since the last call, for places_ and totals_
  std::vector<Function> open_;     ///< functions it is in, as far as asked for, the innermost last
  std::vector<FunctionTime> gap_;  ///< since the last call
  int stopped_ = 0;                ///< calls it is in
  double since_ = 0;
  double began_ = 0;  ///< when it went on
};

/// True when `wanted` names the recorded function `name`: the whole name, or the name without
/// parameters.
bool is_function(const std::string& name, const std::string& wanted);

}  // namespace rubato
