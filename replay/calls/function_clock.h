#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay/calls/sampled_gaps.h"
#include "replay/trace/function_times.h"

namespace rubato {

/// Follows the records of one timeline.
class FunctionClock {
 public:
  FunctionClock(FunctionWatch watch, int timeline)
      : times_(watch.times ? &watch.times->of(timeline) : nullptr),
        totals_(watch.totals ? &watch.totals->at(timeline) : nullptr),
        counts_(watch.totals),
        places_(watch.places),
        samples_(watch.samples ? &watch.samples->sums.at(timeline) : nullptr),
        timeline_(timeline) {
    if (watch.samples && watch.samples->are_functions) gaps_.emplace();
  }

  using Function = CalledFunction;

  // Times in ticks.
  void enter_function(Function function, double time);
  void leave_function(Function function, double time);
  /// The program enters a call, or the tracer stops: the time so far belongs to the gap before
  /// `event`. `site`: the line that makes the call; `caller`: its function, unless one is open;
  /// `call`: tells calls apart; kNoPlace: no call.
  void stop(uint64_t event, double time, uint32_t site = kNoPlace, uint32_t caller = kNoPlace,
            uint32_t call = kNoPlace);
  /// The thread was found in the last one of `path`, which may be empty; functions may occur
  /// several times. The sample counts for `ticks` of processor time.
  void sample(std::span<const Function> path, double ticks, double time);
  /// The program, or the tracer, resumes.
  void go(double time);
  /// The thread had no core for `ticks` since go(), at an unknown time: the loss is distributed
  /// over the functions in proportion to their time, in gaps and in total.
  void lose(double ticks, double time);
  /// MPI_Init is over: earlier time does not count in total.
  void begin_window();
  /// MPI_Finalize was entered: later time does not count either.
  void end_window();
  /// After the last record. Functions from samples are known from here on.
  void finish();

 private:
  static constexpr size_t kMostParts = 255;  ///< in one gap; further ones count as known ones

  struct Open {
    Function function;
    uint32_t node = CallTree::kRoot;  ///< of paths_
  };
  void take_time(double time);
  bool matters(Function function) const {
    return !gaps_ && (counts_ || places_ || function.chosen != 0);
  }

  std::vector<FunctionTime>* times_;
  CallTree* totals_;  ///< null: not wanted
  bool counts_;       ///< paths_ has the times, in the window
  PlaceSink* places_;
  std::unordered_map<uint32_t, SampleSum>* samples_;
  int timeline_;
  std::optional<SampledGaps> gaps_;       ///< if functions are known from samples only
  CallTree paths_;                        ///< if functions are known by calls
  std::vector<FunctionPart> parts_;       ///< since the last call, for places_
  std::vector<FunctionPart> node_parts_;  ///< likewise, by node of paths_
  std::vector<Open> open_;                ///< open functions, as far as needed, the innermost last
  std::vector<FunctionTime> gap_;         ///< since the last call
  uint32_t probes_ = 0;                   ///< functions entered or left since the last take_time()
  int stopped_ = 0;                       ///< number of open calls
  double since_ = 0;
  double began_ = 0;  ///< time of the last go()
  double lost_ = 0;   ///< ticks since then
};

}  // namespace rubato
