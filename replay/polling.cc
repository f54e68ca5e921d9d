#include "replay/polling.h"

#include <algorithm>
#include <vector>

namespace rubato {
namespace {

constexpr double kWork = 10;  ///< times the median poll

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
