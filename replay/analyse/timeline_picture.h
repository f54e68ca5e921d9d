#pragma once

// The picture of a scenario: ranks downwards, time to the right, each cell showing the activity
// with most of its time. Its size does not depend on the length of the run: cells are summed up
// during the replay.

#include <optional>
#include <vector>

#include "replay/analyse/activities.h"
#include "replay/observe/critical_path.h"

namespace rubato {

class TimelinePicture : public Activities {
 public:
  /// The run begins at `begin` and takes `elapsed`, ticks. At most `cells` cells. `kept`: losses of
  /// calls that the scenario keeps.
  TimelinePicture(const TraceDefinitions& trace, double begin, double elapsed, size_t cells,
                  KeptLosses kept = {});
  void begin() override;

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int ranks_per_row() const { return ranks_per_row_; }
  /// Row by row, the first rank first.
  std::vector<Activity> cells() const;
  /// By column: the row with most of the critical path's time in it; -1: the path crosses there.
  std::vector<int> path_rows(const CriticalPath& path) const;

 private:
  static constexpr int kKinds = kActivities + kColouredFunctions;

  void span(int timeline, const ActivitySpan& span) override;
  void polls_waited(int timeline, std::span<const PolledWait> polls, double begin, double end,
                    Activity wait) override;
  /// Adds `share` of that time to `activity`, or moves up to that much from activity `instead`.
  void add(int rank, double from, double to, Activity activity, double share = 1,
           std::optional<Activity> instead = {});

  double begin_;
  double ticks_per_column_;
  int ranks_per_row_;
  int rows_;
  int columns_;
  std::vector<float> ticks_;  ///< by row, column and activity
};

}  // namespace rubato
