#include "replay/polling.h"

#include <algorithm>
#include <vector>

namespace rubato {
namespace {

constexpr double kWork = 10;  ///< times the median poll

double median_poll(std::span<const Call> polls) {
  std::vector<double> lengths;
  lengths.reserve(polls.size());
  for (const Call& poll : polls) lengths.push_back(poll.leave - poll.enter);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

void mark_spinning(std::span<Call> run) {
  if (run.size() < 2) return;
  const double longest = kWork * median_poll(run.first(run.size() - 1));
  for (size_t i = run.size() - 1; i > 0; --i) {
    const bool works = run[i].function_records > 0 || run[i].enter - run[i - 1].leave > longest;
    if (works) return;
    run[i].spinning |= kSpinningBefore;
    run[i - 1].spinning |= kSpinning;
  }
}

}  // namespace rubato
