#pragma once

#include <vector>

#include "replay/observe/observer.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The shifts of the calls of each timeline. Observes a replay by LogicalClockRules and keeps only
/// the calls at which the shift changes.
class ClockShifts : public Observer<1> {
 public:
  /// A call at which the shift changes, or before which it changed (a thread may wait for another
  /// thread of its rank). Ticks.
  struct Change {
    uint64_t call;  ///< its number in the timeline, from 0
    double enter, leave;
    double enter_shift, leave_shift;
  };

  explicit ClockShifts(int timelines) : timelines_(timelines) {}

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  const std::vector<Change>& of(int timeline) const { return timelines_[timeline].changes; }
  double largest() const { return largest_; }  ///< ticks

 private:
  struct Timeline {
    std::vector<Change> changes;
    uint64_t calls = 0;
    double shift = 0;
  };

  std::vector<Timeline> timelines_;
  double largest_ = 0;
};

/// A source with shifted times. Records in a call move as in a replay (retimed()); side locations
/// move with the main thread of their rank. Times stay whole ticks.
class ShiftedSource : public EventSource {
 public:
  /// Both must outlive it.
  ShiftedSource(EventSource& source, const ClockShifts& shifts)
      : source_(&source), shifts_(&shifts), places_(source.definitions().timelines()) {}

  const TraceDefinitions& definitions() const override { return source_->definitions(); }
  bool read(int timeline, Block& block) override;
  void rewind() override;
  void keep_records(bool keep) override { source_->keep_records(keep); }
  std::vector<double> side_records(const SideLocation& location) override;
  Counts counts() const override { return source_->counts(); }
  bool looks_at_posts() const override { return source_->looks_at_posts(); }

 private:
  /// How far a timeline has been read.
  struct Place {
    uint64_t calls = 0;
    size_t changes = 0;
    double shift = 0;
    double recorded_clock = 0;  ///< leave of the previous call
  };

  EventSource* source_;
  const ClockShifts* shifts_;
  std::vector<Place> places_;
};

}  // namespace rubato
