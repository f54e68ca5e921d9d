#include "tracer/layout/clock_model.h"

#include <algorithm>
#include <cmath>

/// A line or a bent line.
///
/// Quartz drifts by some parts per million, and steadily while its temperature stays. Then a line
/// by least squares, each measurement weighted with 1 / deviation^2, is the best there is: it
/// averages the errors of all of them. When the machine warms up, or a daemon steers the clock, no
/// line fits. The deviation of a measurement is half its round trip over sqrt(3), so the true
/// offset is within 1.73 deviations. If a line misses a measurement by more than kMisfit deviations
/// it is rejected, and the clock is straight only from one measurement to the next. Some
/// measurements are bad (the process was descheduled during all exchanges); one that is much less
/// certain than the line through good neighbours, and does not contradict it, is left out.
///
/// Two measurements define a line without residuals. They are taken as they are.
///
/// All exchanges together take a millisecond. Clocks of the same kind drift some nanoseconds apart
/// in that time; the middle of two exchanges is then the offset at the middle of their times.
/// Counters of different rates run apart by more than the time of a message. Then the fastest way
/// there is only the first or the last one; a sign is that both ways together are shorter than in
/// any exchange, and the fastest exchange is taken instead.
///
/// Ticks are 64-bit numbers; nothing absolute becomes a double. Times count from the first sample,
/// offsets from its offset.
namespace rubato {
inline namespace tracing {
namespace {

constexpr double kMisfit = 2;
constexpr double kMuchLess = 4;

double since(uint64_t time, uint64_t begin) {
  return static_cast<double>(static_cast<int64_t>(time - begin));
}

/// The offset at `time` on the line through two offsets.
double between(const ClockOffset& a, const ClockOffset& b, uint64_t time) {
  const double slope = static_cast<double>(b.offset - a.offset) / since(b.time, a.time);
  return static_cast<double>(a.offset) + slope * since(time, a.time);
}

double weight(const ClockOffset& o) {
  const double deviation = std::max(o.deviation, 0.5);  // a tick is a tick
  return 1 / (deviation * deviation);
}

/// A straight line: offset = middle_offset + slope * (time - middle).
struct Line {
  const ClockOffset& origin;
  double middle = 0;         ///< time since the origin's
  double middle_offset = 0;  ///< offset less the origin's
  double slope = 0;
  double weights = 0;
  double spread = 0;  ///< weighted sum of squared distances from the middle

  explicit Line(const std::vector<ClockOffset>& points) : origin(points.front()) {
    double times = 0, offsets = 0;
    for (const ClockOffset& p : points) {
      weights += weight(p);
      times += weight(p) * since(p.time, origin.time);
      offsets += weight(p) * relative_offset(p);
    }
    middle = times / weights;
    middle_offset = offsets / weights;
    double product = 0;
    for (const ClockOffset& p : points) {
      const double distance = since(p.time, origin.time) - middle;
      spread += weight(p) * distance * distance;
      product += weight(p) * distance * (relative_offset(p) - middle_offset);
    }
    slope = product / spread;
  }

  double relative_offset(const ClockOffset& p) const {
    return static_cast<double>(p.offset - origin.offset);
  }
  double relative_at(uint64_t time) const {
    return middle_offset + slope * (since(time, origin.time) - middle);
  }

  bool fits(const std::vector<ClockOffset>& points) const {
    return std::all_of(points.begin(), points.end(), [&](const ClockOffset& p) {
      const double miss = relative_offset(p) - relative_at(p.time);
      // Half a tick is what rounding to ticks adds.
      return std::abs(miss) <= kMisfit * p.deviation + 0.5;
    });
  }

  ClockOffset at(uint64_t time) const {
    const double distance = since(time, origin.time) - middle;
    return {time, origin.offset + std::llrint(relative_at(time)),
            std::sqrt(1 / weights + distance * distance / spread)};
  }
};

/// How sure the line through two offsets is at `time`, each having an error of its own.
double deviation_between(const ClockOffset& a, const ClockOffset& b, uint64_t time) {
  const double part = since(time, a.time) / since(b.time, a.time);
  return std::hypot((1 - part) * a.deviation, part * b.deviation);
}

/// True if neighbours predict the offset at `p` much better than `p` measures it, without
/// contradiction: the nearest good ones on both sides, or two on one side.
bool better_left_out(const ClockOffset& p, const std::vector<ClockOffset>& all) {
  std::vector<const ClockOffset*> before, after;
  const size_t place = static_cast<size_t>(&p - all.data());
  const auto good = [&](const ClockOffset& o) { return o.deviation * kMuchLess < p.deviation; };
  for (size_t i = place; i > 0 && before.size() < 2; --i) {
    if (good(all[i - 1])) before.push_back(&all[i - 1]);
  }
  for (size_t i = place + 1; i < all.size() && after.size() < 2; ++i) {
    if (good(all[i])) after.push_back(&all[i]);
  }
  if (before.size() + after.size() < 2) return false;
  const ClockOffset& a = before.empty() ? *after[0] : *before[0];
  const ClockOffset& b = before.empty() ? *after[1] : after.empty() ? *before[1] : *after[0];
  const double miss = static_cast<double>(p.offset) - between(a, b, p.time);
  return deviation_between(a, b, p.time) * kMuchLess < p.deviation &&
         std::abs(miss) <= kMisfit * p.deviation;
}

}  // namespace

bool Exchanges::add(uint64_t before, uint64_t theirs, uint64_t after) {
  const Exchange e{before, theirs, after};
  bool better = false;
  if (!any_ || way_there(e) < way_there(there_)) there_ = e, better = true;
  if (!any_ || way_back(e) < way_back(back_)) back_ = e, better = true;
  if (!any_ || after - before < both_.after - both_.before) both_ = e, better = true;
  any_ = true;
  return better;
}

ClockSample Exchanges::sample() const {
  const auto trip = static_cast<int64_t>(both_.after - both_.before);
  // However asymmetric the trip was, the true offset is within half of it.
  const double deviation = static_cast<double>(trip) / 2 / std::sqrt(3.0);
  const int64_t least = way_there(there_) + way_back(back_);
  if (least < trip / 2)
    return {both_.before + static_cast<uint64_t>(trip) / 2, both_.theirs, deviation};
  // The middle between the two, of both times and of both offsets.
  const auto apart = static_cast<int64_t>(back_.after - there_.before) / 2;
  const auto theirs_apart = static_cast<int64_t>(back_.theirs - there_.theirs) / 2;
  return {there_.before + static_cast<uint64_t>(apart),
          there_.theirs + static_cast<uint64_t>(theirs_apart), deviation};
}

ClockModel::ClockModel(const ClockModel& parent, const std::vector<ClockSample>& samples) {
  for (const ClockSample& s : samples) {
    if (!offsets_.empty() && s.own <= offsets_.back().time) continue;
    const uint64_t reference = parent.reference(s.parent);
    offsets_.push_back({s.own, static_cast<int64_t>(reference - s.own),
                        std::hypot(s.deviation, parent.deviation(s.parent))});
  }
  if (offsets_.size() == 1) {  // an interval needs two
    offsets_.push_back(offsets_[0]);
    ++offsets_[1].time;
  }
  if (offsets_.size() < 3) return;
  const Line line(offsets_);
  if (line.fits(offsets_)) {
    offsets_ = {line.at(offsets_.front().time), line.at(offsets_.back().time)};
    return;
  }
  std::vector<ClockOffset> kept;
  for (const ClockOffset& p : offsets_) {
    if (!better_left_out(p, offsets_)) kept.push_back(p);
  }
  offsets_ = std::move(kept);
}

ClockModel ClockModel::from_offsets(std::vector<ClockOffset> offsets) {
  ClockModel model;
  model.offsets_ = std::move(offsets);
  return model;
}

size_t ClockModel::interval(uint64_t time) const {
  size_t i = 0;
  while (i + 2 < offsets_.size() && time >= offsets_[i + 1].time) ++i;
  return i;
}

uint64_t ClockModel::reference(uint64_t time) const {
  if (offsets_.size() < 2) return time;
  const size_t i = interval(time);
  const ClockOffset& a = offsets_[i];
  const ClockOffset& b = offsets_[i + 1];
  const double slope = static_cast<double>(b.offset - a.offset) / since(b.time, a.time);
  return time + static_cast<uint64_t>(a.offset + std::llrint(slope * since(time, a.time)));
}

double ClockModel::deviation(uint64_t time) const {
  if (offsets_.size() < 2) return 0;
  const size_t i = interval(time);
  return deviation_between(offsets_[i], offsets_[i + 1], time);
}

std::vector<ClockOffset> ClockModel::records(uint64_t first_time) const {
  if (offsets_.size() >= 2) return offsets_;
  return {{first_time, 0, 0}, {first_time + 1, 0, 0}};
}

}  // namespace tracing
}  // namespace rubato
