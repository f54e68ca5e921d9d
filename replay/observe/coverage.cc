#include "replay/observe/coverage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace rubato {

Coverage::Coverage(const TraceDefinitions& trace, bool spinning_waits, const std::vector<int>* only)
    : trace_(&trace),
      ranks_(trace.ranks()),
      calls_(trace.calls.size()),
      windows_(trace.timelines()),
      spinning_waits_(spinning_waits) {
  windows_.make(only);
}

void Coverage::call(int timeline, const Call& call, bool counted, double lost) {
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  Window& window = windows_[timeline];
  if (timeline >= trace_->ranks()) {
    if (is_mpi) window.end = call.leave;  // of the window of its rank
  } else {
    if (call.role == CallRole::kBegin || call.role == CallRole::kInit) window.start = call.leave;
    if (!window.over) window.end = call.enter;
  }
  if (!is_mpi) return;
  const double all = call.leave - call.enter;
  const double ticks = all - std::clamp(lost, 0.0, std::max(0.0, all));
  PerCall& totals = calls_[call.name];
  if (counted) {
    totals.ticks += ticks - all;
  } else {
    ++mpi_calls_;
    ++totals.calls;
    totals.ticks += ticks;
  }
  if (call.role == CallRole::kFinalize) window.over = true;
  if (call.role != CallRole::kMpi || window.over) return;
  mpi_ticks_ += counted ? ticks - all : ticks;
  if (!call.is_kept() || trace_->calls[call.name].without_records == CallClass::kLocal) return;
  if (spinning_waits_ && call.spinning & kSpinning) {
    ++spinning_calls_;
    spinning_ticks_ += ticks;
    return;
  }
  // The earliest one, independent of the order in which calls are added.
  const std::pair place{call.enter, timeline};
  if (totals.kept++ == 0 || place < totals.first_place) {
    totals.first_place = place;
    totals.first_kept = trace_->name_of(timeline) + ", event " + std::to_string(call.event);
  }
  totals.kept_ticks += ticks;
}

void Coverage::add(size_t name, uint64_t calls, double ticks) {
  mpi_calls_ += calls - calls_[name].calls;  // the others were added here
  calls_[name].calls = calls;
  calls_[name].ticks += ticks;
  mpi_ticks_ += ticks;
}

void Coverage::put(ByteWriter& to, const std::vector<int>& timelines) const {
  for (const int timeline : timelines) {
    const Window& window = windows_[timeline];
    to.value(window.over), to.value(window.start), to.value(window.end);
  }
  for (const PerCall& call : calls_) {
    to.value(call.calls), to.value(call.ticks), to.value(call.kept), to.value(call.kept_ticks);
    to.value(call.first_place.first), to.value(call.first_place.second), to.text(call.first_kept);
  }
  to.value(spinning_calls_), to.value(spinning_ticks_);
  to.value(mpi_calls_), to.value(mpi_ticks_);
}

void Coverage::take(ByteReader& from, const std::vector<int>& timelines) {
  for (const int timeline : timelines) {
    Window& window = windows_[timeline];
    from.value(window.over), from.value(window.start), from.value(window.end);
  }
  for (PerCall& call : calls_) {
    PerCall other;
    from.value(other.calls), from.value(other.ticks), from.value(other.kept);
    from.value(other.kept_ticks), from.value(other.first_place.first);
    from.value(other.first_place.second);
    other.first_kept = from.text();
    if (other.kept > 0 && (call.kept == 0 || other.first_place < call.first_place)) {
      call.first_place = other.first_place;
      call.first_kept = other.first_kept;
    }
    call.calls += other.calls;
    call.ticks += other.ticks;
    call.kept += other.kept;
    call.kept_ticks += other.kept_ticks;
  }
  const auto add = [&](auto& sum) {
    std::remove_reference_t<decltype(sum)> more{};
    from.value(more);
    sum += more;
  };
  add(spinning_calls_), add(spinning_ticks_), add(mpi_calls_), add(mpi_ticks_);
}

void Coverage::fill(TraceSummary& summary) const {
  summary.mpi_calls = mpi_calls_;
  Window whole;
  for (const auto [first, end] : windows_.made()) {
    for (size_t i = first; i < end; ++i) {
      whole.start = std::min(whole.start, windows_[i].start);
      whole.end = std::max(whole.end, windows_[i].end);
    }
  }
  const double window = whole.end - whole.start;
  summary.elapsed = std::isfinite(window) ? window / trace_->ticks_per_second : 0;
  summary.mpi_time = mpi_ticks_ / trace_->ticks_per_second;
  summary.spinning_calls = spinning_calls_;
  summary.spinning_time = spinning_ticks_ / trace_->ticks_per_second;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const PerCall& call = calls_[i];
    if (call.kept == 0) continue;
    // Other calls of this name have records, so these were for MPI_PROC_NULL.
    const bool is_message = trace_->calls[i].without_records == CallClass::kMessage;
    if (is_message && call.kept < call.calls) continue;
    summary.kept.push_back({trace_->calls[i].name, call.kept,
                            call.kept_ticks / trace_->ticks_per_second, call.first_kept});
  }
  std::sort(summary.kept.begin(), summary.kept.end(),
            [](const KeptCall& a, const KeptCall& b) { return a.time > b.time; });
}

std::vector<int> Coverage::calls_by_time() const {
  std::vector<int> names;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].calls > 0) names.push_back(static_cast<int>(i));
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](int a, int b) { return calls_[a].ticks > calls_[b].ticks; });
  return names;
}

}  // namespace rubato
