#pragma once

#include <algorithm>
#include <cmath>
#include <string>

namespace rubato {

/// Times of the parts of a run.
struct Pace {
  bool quick = false;
  bool in_time = false;  ///< a quick run leaves out what its time is too short for
  double scale = 1;      ///< factor of the default times, for the requested time

  /// The budget of a part with these default times, for a quick run and a full one.
  double seconds(double in_quick, double in_normal) const {
    return scale * (quick ? in_quick : in_normal);
  }
  /// Number of repetitions: `by_itself` by default, scaled with the time of the run, at least
  /// `least`.
  int times(int by_itself, int least) const {
    return std::max(least, static_cast<int>(std::lround(scale * by_itself)));
  }
};

/// The planned time of a run, from the budgets of its parts, and how long a part may continue if
/// the machine is busy. All in seconds, `now` since the run began.
class TimePlan {
 public:
  /// The planned time of all parts, and the limit of the run; the plan may be longer.
  TimePlan(double planned, double limit) : rest_(planned), limit_(limit) {}

  /// A part with `budget` begins; the one before is over. Returns how long it may continue while
  /// its repetitions differ: its budget and up to as long again, if the later parts leave time for
  /// that below the limit.
  double begin(double budget, double now);

  /// What is planned from now on. Never negative.
  double left(double now) const;

 private:
  double rest_;  ///< of the parts that have not begun
  double limit_;
  double budget_ = 0;  ///< of the part that has
  double begun_ = 0;
};

/// The limit of a run with this plan: 24 s for a quick run, so that it ends within 30 s, else 290 s
/// or the plan plus a third if that is more.
double time_limit(double planned, bool quick);

/// The scale of the budgets of a quick run with this plan: three quarters of its limit at most, for
/// what no budget bounds.
double quick_scale(double planned);

/// The scale that makes a run with this default plan end within `seconds`: the plan becomes a
/// quarter shorter than that, as in time_limit().
double scale_for(double seconds, double planned);

/// "node: cycle 12, 80 lengths; about 35 s left"; from two minutes on in minutes, in the last five
/// seconds "a few s". Without the remaining time if nothing more is planned.
std::string progress_text(const std::string& what, double seconds_left);

}  // namespace rubato
