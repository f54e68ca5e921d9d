#pragma once

#include <algorithm>
#include <cmath>
#include <string>

namespace rubato {

/// How long the parts of a run take.
struct Pace {
  bool quick = false;
  double scale = 1;  ///< of what they take by themselves, for the time that was asked for

  /// The budget of a part that takes so long by itself, in a quick run and in another one.
  double seconds(double in_quick, double in_normal) const {
    return scale * (quick ? in_quick : in_normal);
  }
  /// How often something is done that is done `by_itself` times by itself, and at least `least`
  /// times, however short the run is meant to be.
  int times(int by_itself, int least) const {
    return std::max(least, static_cast<int>(std::lround(scale * by_itself)));
  }
};

/// How long a run is going to take, as the budgets of its parts say, and how long a part may go on
/// where the machine is busy. All in seconds, `now` since the run began.
class TimePlan {
 public:
  /// What all parts are planned to take, and what the run should not pass; the plan may be longer.
  TimePlan(double planned, double limit) : rest_(planned), limit_(limit) {}

  /// A part begins that is planned to take `budget`; the one before is over. Returns how long it
  /// may go on while its repetitions differ: its budget and up to as long again, as far as the
  /// parts behind it leave room below the limit.
  double begin(double budget, double now);

  /// What is planned from now on. Never negative.
  double left(double now) const;

 private:
  double rest_;  ///< of the parts that have not begun
  double limit_;
  double budget_ = 0;  ///< of the part that has
  double begun_ = 0;
};

/// The limit of a run of which so much is planned: 28 s where it is quick, so that two ranks need
/// less than 30 s, else 290 s; a third above the plan where that is more.
double time_limit(double planned, bool quick);

/// What makes a run, of which so much is planned by itself, end within `seconds`: with a plan that
/// is a quarter shorter, as in time_limit().
double scale_for(double seconds, double planned);

/// "node: cycle 12, 80 lengths; about 35 s left"; from two minutes on in minutes, in the last five
/// seconds "a few s". Without a word about them where nothing is planned any more.
std::string progress_text(const std::string& what, double seconds_left);

}  // namespace rubato
