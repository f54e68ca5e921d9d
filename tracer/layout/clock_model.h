#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// From raw measurements between clocks to the clock offsets of an archive. Pure arithmetic, used
/// by the ranks at the end of a run and by a recovery from files.
namespace rubato {
inline namespace tracing {

/// Offset of a clock from the reference clock (rank 0's) at one moment.
struct ClockOffset {
  uint64_t time = 0;   ///< ticks of the local clock
  int64_t offset = 0;  ///< to add to it
  double deviation = 0;
};

/// One measurement of a clock against its parent's in the tree: both times at the same moment. Raw,
/// so it stays right whatever becomes known about the parent's clock.
struct ClockSample {
  uint64_t own = 0;
  uint64_t parent = 0;
  double deviation = 0;  ///< in ticks
};

/// Many exchanges of messages between a clock and its parent's, and their joint result.
///
/// In one exchange this process takes a stamp (before) and sends a request, the parent takes a
/// stamp (theirs) and answers, this process takes another stamp (after). Then theirs - before is
/// the offset plus the way there, theirs
/// - after the offset less the way back. Disturbances only lengthen a way, so the least way there
/// and the least way back are the best, and the offset is taken from their middle. They need not
/// come from the same exchange.
class Exchanges {
 public:
  /// True when this one was faster than all before, on one of its ways or on both.
  bool add(uint64_t before, uint64_t theirs, uint64_t after);

  /// After one or more.
  ClockSample sample() const;

 private:
  struct Exchange {
    uint64_t before, theirs, after;
  };
  int64_t way_there(const Exchange& e) const { return static_cast<int64_t>(e.theirs - e.before); }
  int64_t way_back(const Exchange& e) const { return static_cast<int64_t>(e.after - e.theirs); }

  bool any_ = false;
  Exchange there_{}, back_{}, both_{};  ///< the fastest of each way, and of both together
};

/// A clock as a function of the reference clock: offsets on a straight line, or several with
/// interpolation between them and extrapolation of the first and last interval. OTF2's readers
/// treat clock offsets the same way, to the tick.
class ClockModel {
 public:
  /// The reference clock itself.
  ClockModel() = default;

  /// A clock that was measured against its parent's, in order of time. Samples that do not lie
  /// behind the one before them are left out; without samples the clock is taken for the
  /// reference's own.
  ClockModel(const ClockModel& parent, const std::vector<ClockSample>& samples);

  /// Given offsets.
  static ClockModel from_offsets(std::vector<ClockOffset> offsets);

  /// Time of the reference clock when this one showed `time`.
  uint64_t reference(uint64_t time) const;
  /// Standard deviation of that.
  double deviation(uint64_t time) const;

  /// Strictly increasing in time; two or more, or none for the reference clock.
  const std::vector<ClockOffset>& offsets() const { return offsets_; }

  /// The records to write: offsets(), or two of nothing where there are none.
  std::vector<ClockOffset> records(uint64_t first_time) const;

 private:
  /// The index of the interval for `time`.
  size_t interval(uint64_t time) const;

  std::vector<ClockOffset> offsets_;
};

}  // namespace tracing
}  // namespace rubato
