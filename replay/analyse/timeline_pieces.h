#pragma once

// The spans of a scenario one by one, as many as fit; where there are more, short ones are
// combined.
//
// The run is divided into intervals of the length `grain`. Consecutive spans of a timeline that lie
// in one interval are combined to a piece, with their sums by activity and call, and of compute by
// call path, as long as intervals are short. A span that
// crosses the border of an interval stays a piece of its own. So each moment lies in a piece, the
// parts of a timeline add up to the elapsed time, and each span longer than the grain is exact.
// With too many parts the grain is doubled, which combines pieces further:
//
//     grain 0    │ c │s│c│r│ c │s│     recv      │c│s│ c │
//     grain ──── │ c s c · r c · s│    recv      │c s · c │     3 pieces of 3, 1 and 2 parts
//
// Memory depends on the number of parts, not on the length of the run.

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "replay/analyse/activities.h"

namespace rubato {

class TimelinePieces : public Activities {
 public:
  /// What a timeline does. Combined spans have no place but for the call path of compute.
  struct State {
    Activity activity = Activity::kNone;
    uint16_t call = ActivitySpan::kNoCall;
    uint32_t function = kNoPlace;
    uint32_t site = kNoPlace;
    uint32_t stack = 0;  ///< as ActivitySpan::stack
    auto operator<=>(const State&) const = default;
  };
  /// A piece is a part that is `first`, and the parts after it that are not.
  struct Part {
    uint32_t state : 31;  ///< index into states()
    uint32_t first : 1;
    uint32_t calls;  ///< that end in it
    double ticks;
  };

  /// The run begins at `begin` and takes `elapsed`, ticks. At most `parts`, unless one piece per
  /// timeline has more. `kept`: losses of calls that the scenario keeps.
  TimelinePieces(const TraceDefinitions& trace, double begin, double elapsed, size_t parts,
                 KeptLosses kept = {});
  void begin() override;

  /// Once, after the replay: timelines that end early do nothing until the end of the run.
  void finish();
  /// Combines further, up to grains of the elapsed time. False if nothing is left to combine.
  bool combine();

  /// Ticks; 0: nothing was combined.
  double grain() const { return grain_; }
  const std::vector<State>& states() const { return states_; }
  const std::vector<Part>& parts(int timeline) const { return lines_[timeline].parts; }

 private:
  static constexpr int64_t kLong = -1;

  struct Line {
    std::vector<Part> parts;
    double end = 0;        ///< ticks since the begin of the run
    size_t last = 0;       ///< the first part of the last piece
    int64_t cell = kLong;  ///< the interval in which the last piece lies, if it is in one
  };

  void span(int timeline, const ActivitySpan& span) override;
  void window_begins(int timeline, double time) override;
  void polls_waited(int timeline, std::span<const PolledWait> polls, double begin, double end,
                    Activity wait) override;

  uint32_t number_of(const State& state);
  /// The number of a state after combining.
  uint32_t combined(uint32_t state) const;
  /// Combined or not.
  void add_piece(Line& line, std::span<const Part> piece, double end);
  int64_t cell_of(double from, double to) const;
  void combine_all();

  double begin_;
  double elapsed_;
  size_t most_;
  double grain_ = 0;
  size_t size_ = 0;  ///< parts of all lines
  std::vector<Line> lines_;
  std::vector<State> states_;
  std::vector<uint32_t> bare_;  ///< by state: the same without its place
  std::map<State, uint32_t> numbers_;
  struct Recent {
    State state;
    uint32_t number = 0;
  };
  std::vector<Recent> recent_;
};

}  // namespace rubato
