#include "replay/rules/recorded/recorded_losses.h"

#include <algorithm>

namespace rubato {

void RecordedLosses::add(int timeline, const Loss& loss) {
  if (of_.size() <= static_cast<size_t>(timeline)) of_.resize(timeline + 1);
  of_[timeline].push_back(loss);
}

void RecordedLosses::add_call(int timeline, double end, const Lost& lost) {
  add(timeline, {end, static_cast<float>(lost.flushing + lost.stolen),
                 static_cast<float>(lost.flushing), static_cast<float>(lost.stolen), false});
}

void RecordedLosses::add_gap(int timeline, double begin, double end) {
  const auto length = static_cast<float>(end - begin);
  add(timeline, {end, length, 0, length, true});
}

void RecordedLosses::next_call(int timeline, double enter) {
  if (of_.size() <= static_cast<size_t>(timeline) || of_[timeline].empty()) return;
  Loss& last = of_[timeline].back();
  if (!last.is_open) return;
  last.is_open = false;
  if (enter <= last.end) return;
  last.length += static_cast<float>(enter - last.end);
  last.end = enter;
}

Lost RecordedLosses::between(int timeline, double from, double to) const {
  Lost sum;
  if (of_.size() <= static_cast<size_t>(timeline)) return sum;
  const std::vector<Loss>& losses = of_[timeline];
  auto loss = std::upper_bound(losses.begin(), losses.end(), from,
                               [](double time, const Loss& each) { return time < each.end; });
  for (; loss != losses.end(); ++loss) {
    if (loss->end - loss->length >= to) break;
    const double there = std::min(to, loss->end) - std::max(from, loss->end - loss->length);
    if (there <= 0) continue;  // a gap of no length
    sum.flushing += loss->flushing * (there / loss->length);
    sum.stolen += loss->stolen * (there / loss->length);
  }
  return sum;
}

}  // namespace rubato
