#pragma once

// The messages shown on a page: the matrices SIZE, REQUEST and TIME of a scenario (MPInside,
// section 3.4) in cells of several ranks each, the distribution of message sizes, and the messages
// that took longest.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/analyse/scenario_profile.h"
#include "replay/observe/observer.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The pairs of ranks of one cell.
struct TrafficCell {
  int row = 0;         ///< of rank i
  int column = 0;      ///< of rank j
  Requests sent;       ///< from i to j: SIZE(i, j) and REQUEST(i, j)
  double seconds = 0;  ///< of i in calls that receive from j: TIME(i, j)
};

struct TrafficPicture {
  int rows = 0;  ///< also the number of columns
  int ranks_per_row = 1;
  std::vector<TrafficCell> cells;  ///< non-empty ones, by row and column
  SizeHistogram sizes;             ///< of sends, with MPInside's attribution of collectives
};

/// At most `most` rows.
TrafficPicture traffic_picture(const ScenarioProfile& profile, int most);

/// A message in a scenario. Times in seconds.
struct DrawnMessage {
  int sender = 0;       ///< timeline
  double sent = 0;      ///< enter of the call that sends it
  int receiver = 0;     ///< timeline
  double received = 0;  ///< leave of the call that receives it
};

/// Keeps the messages of a scenario with the longest time from send to receive.
class LongestMessages : public Observer<1> {
 public:
  /// Keeps at most `most`, in memory for twice as many.
  LongestMessages(const TraceDefinitions& trace, size_t most);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void message(const Delivery& delivery) override;
  bool wants_messages() const override { return true; }

  uint64_t all() const { return all_; }
  /// At most `most` of them, by time of sending, which is relative to `begin`, seconds.
  std::vector<DrawnMessage> take(double begin, size_t most);

 private:
  void forget_shortest(size_t most);

  const TraceDefinitions* trace_;
  size_t most_;
  uint64_t all_ = 0;
  std::vector<DrawnMessage> messages_;  ///< times in ticks
  /// By timeline, those received by the call that call() will report next.
  std::vector<std::vector<DrawnMessage>> arriving_;
};

}  // namespace rubato
