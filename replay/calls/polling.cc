#include "replay/calls/polling.h"

#include <algorithm>
#include <vector>

namespace rubato {
namespace {

constexpr double kWork = 10;       ///< times the median poll
constexpr size_t kFewPolls = 16;   ///< a loop that waits may be as short, whatever ends it
constexpr uint64_t kGoodPart = 4;  ///< one in so many

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

}  // namespace

bool awaits_message(std::string_view call) {
  return call == "MPI_Probe" || call == "MPI_Mprobe";
}

std::span<Call> tested_before(std::span<Call> polls, uint16_t name) {
  const auto first = std::find_if(polls.begin(), polls.end(), [&](const Call& each) {
    return each.role == CallRole::kMpi && each.name == name;
  });
  return {first, polls.end()};
}

void GivenUp::count(std::span<const Call> polls, uint16_t ended_by, const IsPoll& is_test) {
  if (polls.size() <= kFewPolls) return;
  bool waits = false;
  for (const Call& call : polls) {
    if (!is_test(call)) continue;
    waits = waits || call.name == ended_by;
    auto tests = std::find_if(tests_.begin(), tests_.end(),
                              [&](const Tests& each) { return each.name == call.name; });
    if (tests == tests_.end()) tests = tests_.insert(tests_.end(), {call.name, 0, 0});
    ++tests->all;
    tests->given_up += !waits;
  }
}

bool GivenUp::is_look_now_and_then(uint16_t name) const {
  return std::any_of(tests_.begin(), tests_.end(), [&](const Tests& each) {
    return each.name == name && each.given_up * kGoodPart >= each.all;
  });
}

void mark_spinning(std::span<Call> run, const IsPoll& is_poll) {
  if (run.size() < 2) return;
  const double longest = kWork * median_poll(run.first(run.size() - 1), is_poll);
  bool in_loop = false;
  for (size_t i = run.size() - 1; i > 0; --i) {
    Call& before = run[i - 1];
    in_loop = in_loop || is_poll(before);
    const bool works = run[i].function_records > 0 || run[i].enter - before.leave > longest ||
                       (in_loop && !is_poll(before) && before.role != CallRole::kStolen &&
                        before.leave - before.enter > longest);
    if (works) return;
    run[i].spinning |= kSpinningBefore;
    if (in_loop) before.spinning |= kSpinning;
  }
}

}  // namespace rubato
