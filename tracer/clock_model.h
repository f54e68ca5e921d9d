#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// From raw measurements between clocks to the clock offsets of an archive. Pure arithmetic, for
/// whoever has the measurements: the ranks at the end of a run, or a recovery from files.
namespace rubato {

/// How far a clock is from the reference clock (rank 0's) at one moment.
struct ClockOffset {
  uint64_t time = 0;   ///< ticks of the local clock
  int64_t offset = 0;  ///< to add to it
  double deviation = 0;
};

/// One measurement of a clock against that of its parent in the tree: what both showed at the same
/// moment. Raw, so that it stays right whatever is found out later about the parent's clock.
struct ClockSample {
  uint64_t own = 0;
  uint64_t parent = 0;
  double deviation = 0;  ///< in ticks
};

/// Many exchanges of messages between a clock and its parent's, and what they say together.
///
/// In one exchange the own process stamps (before), asks, the parent stamps (theirs) and answers,
/// the own process stamps again (after). Then theirs - before is the offset plus the way there,
/// theirs - after the offset less the way back. Whatever disturbs a message makes its way longer;
/// so the least of all ways there and the least of all ways back are the truest, and the offset is
/// taken from their middle. They need not be of the same exchange.
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

/// A clock as a function of the reference clock: offsets that lie on a straight line, or several
/// between which one interpolates, and beyond which one goes on as in the first or last interval.
/// This is what OTF2's readers do with clock offsets, to the tick.
class ClockModel {
 public:
  /// The reference clock itself.
  ClockModel() = default;

  /// A clock that was measured against its parent's, in order of time. Samples that do not lie
  /// behind the one before them are left out; without samples the clock is taken for the
  /// reference's own.
  ClockModel(const ClockModel& parent, const std::vector<ClockSample>& samples);

  /// Offsets as they came from somewhere else.
  static ClockModel from_offsets(std::vector<ClockOffset> offsets);

  /// What the reference clock showed when this one showed `time`.
  uint64_t reference(uint64_t time) const;
  /// How sure that is.
  double deviation(uint64_t time) const;

  /// Strictly increasing in time; two or more, or none for the reference clock.
  const std::vector<ClockOffset>& offsets() const { return offsets_; }

  /// The records to write: offsets(), or two of nothing where there are none.
  std::vector<ClockOffset> records(uint64_t first_time) const;

 private:
  /// The index of the interval that speaks for `time`.
  size_t interval(uint64_t time) const;

  std::vector<ClockOffset> offsets_;
};

}  // namespace rubato
