#include "replay/analyse/run_windows.h"

#include <algorithm>

namespace rubato {
namespace {

/// The part of `from`..`to` before `time`, 0 to 1.
double share_of(double time, double from, double to) {
  return to > from ? std::clamp((time - from) / (to - from), 0.0, 1.0) : 0;
}

/// A rank at the end of a window, on a perfect interconnect: seconds since the start of the run.
struct Position {
  double time = 0;
  double compute = 0;
};

/// `number` of `all` ends of windows. Before its start and after its end a rank is in the same
/// share of the time without it.
Position position_at(int number, int all, const WindowMarks::Rank& marks,
                     const std::vector<WindowTimes::Reached>& reached, double elapsed,
                     const RankResult& run, const ScenarioResult& perfect,
                     const RankResult& there) {
  if (number == 0) return {};
  const auto at = static_cast<size_t>(number - marks.first);
  const double time = elapsed * number / all;
  if (number < marks.first) return {there.before * share_of(time, 0, run.before), 0};
  if (number < all && at < reached.size())
    return {there.before + reached[at].time, reached[at].compute};
  const double left = number == all ? 0 : 1 - share_of(time, elapsed - run.after, elapsed);
  return {perfect.elapsed - left * there.after, there.compute};
}

}  // namespace

WindowMarks::WindowMarks(const TraceDefinitions& trace, double begin, double elapsed, int windows)
    : begin_(begin), elapsed_(elapsed), windows_(windows), ranks_(trace.ranks()) {}

void WindowMarks::begin() {
  ranks_.assign(ranks_.size(), {});
}

void WindowMarks::call(int timeline, const Call& call, const Block& /*block*/,
                       const Lanes<1>& clock_before, double /*recorded_before*/,
                       const Lanes<1>& enter, const Lanes<1>& leave) {
  if (timeline >= ranks() || ranks_[timeline].over) return;
  Rank& rank = ranks_[timeline];
  const uint64_t number = rank.calls++;
  if (call.role == CallRole::kBegin || call.role == CallRole::kInit) {
    rank.marks.clear();
    rank.first = 0;
    while (rank.first <= windows_ && end_of(rank.first) <= leave[0]) ++rank.first;
    return;
  }
  rank.over = call.role == CallRole::kFinalize || call.role == CallRole::kEnd;
  const double until = rank.over ? enter[0] : leave[0];
  for (;;) {
    const int next = rank.first + static_cast<int>(rank.marks.size());
    if (next > windows_ || end_of(next) > until) return;
    const double time = end_of(next);
    const bool inside = time > enter[0];
    rank.marks.push_back(
        {number, inside,
         inside ? share_of(time, enter[0], leave[0]) : share_of(time, clock_before[0], enter[0])});
  }
}

WindowTimes::WindowTimes(const TraceDefinitions& trace, const WindowMarks& marks)
    : marks_(&marks), ticks_per_second_(trace.ticks_per_second), ranks_(trace.ranks()) {}

void WindowTimes::begin() {
  ranks_.assign(ranks_.size(), {});
}

void WindowTimes::call(int timeline, const Call& call, const Block& /*block*/,
                       const Lanes<1>& clock_before, double /*recorded_before*/,
                       const Lanes<1>& enter, const Lanes<1>& leave) {
  if (timeline >= static_cast<int>(ranks_.size())) return;
  Rank& rank = ranks_[timeline];
  const uint64_t number = rank.calls++;
  if (call.role == CallRole::kBegin || call.role == CallRole::kInit) {
    rank.start = leave[0];
    rank.compute = 0;
    rank.reached.clear();
    return;
  }
  const std::vector<WindowMarks::Mark>& marks = marks_->rank(timeline).marks;
  const double gap = enter[0] - clock_before[0], length = leave[0] - enter[0];
  const double computed = call.role == CallRole::kThread ? length : 0;
  while (rank.reached.size() < marks.size() && marks[rank.reached.size()].call <= number) {
    const WindowMarks::Mark& mark = marks[rank.reached.size()];
    const double in_gap = mark.inside ? gap : mark.share * gap;
    const double in_call = mark.inside ? mark.share : 0;
    rank.reached.push_back(
        {(clock_before[0] + in_gap + in_call * length - rank.start) / ticks_per_second_,
         (rank.compute + in_gap + in_call * computed) / ticks_per_second_});
  }
  rank.compute += gap + computed;
}

std::vector<WindowEfficiency> window_efficiencies(const WindowMarks& marks,
                                                  const WindowTimes& times,
                                                  const ScenarioResult& run,
                                                  const ScenarioResult& perfect, int together) {
  const int ranks = marks.ranks(), all = marks.windows();
  std::vector<WindowEfficiency> windows;
  std::vector<Position> last(ranks);
  for (int number = together; number <= all; number += together) {
    WindowEfficiency window;
    window.begin = run.elapsed * (number - together) / all;
    window.end = run.elapsed * number / all;
    double sum = 0, most = 0, longest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Position now = position_at(number, all, marks.rank(rank), times.rank(rank), run.elapsed,
                                       run.ranks[rank], perfect, perfect.ranks[rank]);
      const double compute = now.compute - last[rank].compute;
      sum += compute;
      if (compute > most) {
        most = compute;
        window.busiest = rank;
      }
      longest = std::max(longest, now.time - last[rank].time);
      last[rank] = now;
    }
    const double length = window.end - window.begin;
    // (Rounding errors must not exceed 1.)
    longest = std::clamp(longest, most, std::max(most, length));
    if (most > 0) window.load_balance = std::min(1.0, sum / ranks / most);
    if (longest > 0) window.serialisation = most / longest;
    if (length > 0) window.transfer = std::min(1.0, longest / length);
    windows.push_back(window);
  }
  return windows;
}

}  // namespace rubato
