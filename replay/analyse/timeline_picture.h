#pragma once

// The picture of a scenario: ranks downwards, time to the right, each cell showing the activity
// with most of its time. Its size does not depend on the length of the run: cells are summed up
// during the replay.

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/observe/critical_path.h"
#include "replay/observe/kept_losses.h"
#include "replay/observe/observer.h"
#include "replay/store/call_places.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What a cell shows. The four waits are those of WaitKind, in its order. share/report/timeline.js
/// has the names and colours, in this order.
enum class Activity : uint8_t {
  kNone,
  kCompute,
  kMpi,
  kLateSender,
  kLateReceiver,
  kCollective,
  kOneSided,
  kOther,
  // In calls of these classes without waiting; kMpi is for all other calls.
  kMessages,
  kCollectives,
  kOneSidedCalls
};
inline constexpr int kActivities = 11;
/// After them: compute in functions with a colour of their own.
inline constexpr int kColouredFunctions = 5;

class TimelinePicture : public Observer<1> {
 public:
  /// The run begins at `begin` and takes `elapsed`, ticks. At most `cells` cells. `kept`: losses of
  /// calls that the scenario keeps.
  TimelinePicture(const TraceDefinitions& trace, double begin, double elapsed, size_t cells,
                  KeptLosses kept = {});
  /// To be called before the replay. By function of `source`, which has places: its number from 0
  /// to kColouredFunctions - 1, or -1. Its compute becomes Activity kActivities + number.
  void colour_functions(const EventSource& source, std::vector<int> number_of_function);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int ranks_per_row() const { return ranks_per_row_; }
  /// Row by row, the first rank first.
  std::vector<Activity> cells() const;
  /// By column: the row with most of the critical path's time in it; -1: the path crosses there.
  std::vector<int> path_rows(const CriticalPath& path) const;

 private:
  static constexpr int kKinds = kActivities + kColouredFunctions;

  /// Adds `share` of that time to `activity`, or moves up to that much from activity `instead`.
  void add(int rank, double from, double to, Activity activity, double share = 1,
           std::optional<Activity> instead = {});
  void add_compute(int timeline, const Call& call, double recorded_before, double from, double to);

  const TraceDefinitions* trace_;
  double begin_;
  double ticks_per_column_;
  KeptLosses kept_;
  int ranks_per_row_;
  int rows_;
  int columns_;
  std::vector<float> ticks_;  ///< by row, column and activity
  const EventSource* source_ = nullptr;
  std::vector<int> number_of_function_;  ///< empty: compute is not divided by function
  std::vector<std::optional<CallPlaces::Reader>> readers_;  ///< by timeline
  std::vector<char> over_;      ///< by timeline: MPI_Finalize was entered
  std::vector<double> wait_;    ///< by timeline: of the call that call() will report next
  std::vector<Activity> what_;  ///< likewise
};

}  // namespace rubato
