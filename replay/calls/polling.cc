#include "replay/calls/polling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rubato {
namespace {

constexpr double kWork = 10;              ///< in units of the median poll
constexpr double kInterruption = 1000;    ///< likewise, the longest
constexpr double kMostInterrupted = 0.1;  ///< as a share of the polled time
constexpr size_t kFewPolls = 16;          ///< a loop that waits may be this short, however it ends
constexpr uint64_t kGoodPart = 4;         ///< one part in this many

double median_poll(std::span<const Call> run, const IsPoll& is_poll) {
  std::vector<double> lengths;
  lengths.reserve(run.size());
  for (const Call& call : run) {
    if (is_poll(call)) lengths.push_back(call.leave - call.enter);
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// True for time that is not the program's: the tracer wrote its buffer, or others had the core.
bool is_lost_time(const Call& call) {
  return call.role == CallRole::kFlush || call.role == CallRole::kStolen;
}

/// Gaps that interrupt a loop and are no work, examined from its end.
///
/// An interrupt takes as long as a hundred polls, but is rare: the interrupted time is small
/// compared with the polled time. The time that can be accumulated for one interrupt is limited, so
/// that the work of a program that works, polls now and then, and waits at the end, still counts as
/// work.
class Interruptions {
 public:
  /// `in_all`: the polled time; `most`: the longest interrupt.
  Interruptions(double in_all, double most) : most_(most) { polled(in_all); }
  /// Adds the polled time since the last interrupt.
  void polled(double ticks) { left_ = std::min(most_, left_ + kMostInterrupted * ticks); }
  /// True if a gap of this length can be an interrupt; then it counts as one.
  bool take(double ticks) {
    if (ticks > left_) return false;
    left_ -= ticks;
    return true;
  }

 private:
  double most_;
  double left_ = 0;
};

}  // namespace

bool awaits_message(std::string_view call) {
  return call == "MPI_Probe" || call == "MPI_Mprobe";
}

std::span<Call> polled_before(std::span<Call> polls, uint16_t name) {
  const auto first = std::find_if(polls.begin(), polls.end(), [&](const Call& each) {
    return each.role == CallRole::kMpi && each.name == name;
  });
  return {first, polls.end()};
}

void GivenUp::count(std::span<const Call> polls, uint16_t ended_by, const IsPoll& is_test) {
  if (polls.size() <= kFewPolls) return;
  bool waits = false;
  for (auto first = polls.begin(); first != polls.end();) {
    // Most are like the previous one.
    const auto end = std::find_if(first, polls.end(), [&](const Call& call) {
      return call.name != first->name || call.role != first->role ||
             call.actions != first->actions || call.spinning != first->spinning;
    });
    const auto alike = static_cast<uint64_t>(end - first);
    const Call& call = *std::exchange(first, end);
    if (!is_test(call)) continue;
    waits = waits || call.name == ended_by;
    auto tests = std::find_if(tests_.begin(), tests_.end(),
                              [&](const Tests& each) { return each.name == call.name; });
    if (tests == tests_.end()) tests = tests_.insert(tests_.end(), {call.name, 0, 0});
    tests->all += alike;
    if (!waits) tests->given_up += alike;
  }
}

bool GivenUp::is_look_now_and_then(uint16_t name) const {
  return std::any_of(tests_.begin(), tests_.end(), [&](const Tests& each) {
    return each.name == name && each.given_up * kGoodPart >= each.all;
  });
}

void mark_spinning(std::span<Call> run, const IsPoll& is_poll) {
  if (run.size() < 2) return;
  const double median = median_poll(run.first(run.size() - 1), is_poll);
  const double longest = kWork * median;
  const auto gap = [&](size_t i) { return run[i].enter - run[i - 1].leave; };
  /// The time from the enter of call i - 1, a poll, to that of call i, if there is no work in
  /// between; else 0.
  const auto polled = [&](size_t i) {
    const Call& poll = run[i - 1];
    if (!is_poll(poll) || gap(i) > longest) return 0.0;
    return run[i].enter - poll.enter;
  };
  // The rest of a gap in which the thread lost its core is part of the loss.
  const auto went_with = [&](size_t i) {
    const Call& lost = run[i - 1];
    return is_lost_time(lost) && gap(i) <= kMostInterrupted * (lost.leave - lost.enter);
  };
  double in_all = 0;
  for (size_t i = 1; i < run.size(); ++i) in_all += polled(i);
  Interruptions interruptions(in_all, kInterruption * median);
  bool in_loop = false;
  for (size_t i = run.size() - 1; i > 0; --i) {
    Call& before = run[i - 1];
    in_loop = in_loop || is_poll(before);
    const bool is_lost = is_lost_time(before);
    interruptions.polled(polled(i));
    const bool works =
        run[i].function_records > 0 ||
        (gap(i) > longest && !went_with(i) && !(in_loop && interruptions.take(gap(i)))) ||
        (in_loop && !is_poll(before) && !is_lost && before.leave - before.enter > longest);
    if (works) return;
    run[i].spinning |= kSpinningBefore;
    if (in_loop || is_lost) before.spinning |= kSpinning;
  }
}

}  // namespace rubato
