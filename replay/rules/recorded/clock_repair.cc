#include "replay/rules/recorded/clock_repair.h"

#include <algorithm>
#include <cmath>

#include "replay/compare/identity.h"

namespace rubato {

void ClockShifts::call(int timeline, const Call& call, const Block&, const Lanes<1>&, double,
                       const Lanes<1>& enter, const Lanes<1>& leave) {
  Timeline& state = timelines_[timeline];
  const uint64_t number = state.calls++;
  const double enter_shift = enter[0] - call.enter;
  const double leave_shift = leave[0] - call.leave;
  if (enter_shift == state.shift && leave_shift == state.shift) return;
  state.changes.push_back({number, call.enter, call.leave, enter_shift, leave_shift});
  state.shift = leave_shift;
  largest_ = std::max({largest_, enter_shift, leave_shift});
}

bool ShiftedSource::read(int timeline, Block& block) {
  if (!source_->read(timeline, block)) return false;
  const std::vector<ClockShifts::Change>& changes = shifts_->of(timeline);
  Place& place = places_[timeline];
  for (Call& call : block.calls) {
    const Call recorded = call;
    const double shift_before = place.shift;
    double enter_shift = place.shift;
    if (place.changes < changes.size() && changes[place.changes].call == place.calls) {
      const ClockShifts::Change& change = changes[place.changes++];
      enter_shift = change.enter_shift;
      place.shift = change.leave_shift;
    }
    ++place.calls;
    call.enter += enter_shift;
    call.leave += place.shift;
    const bool begins = recorded.role == CallRole::kBegin;
    const double recorded_before = begins ? recorded.enter : place.recorded_clock;
    const double clock_before = begins ? call.enter : recorded_before + shift_before;
    place.recorded_clock = recorded.leave;
    for (Record& record : block.records_of(call)) {
      record.time = std::round(
          retimed(record, recorded, recorded_before, clock_before, call.enter, call.leave));
    }
  }
  return true;
}

void ShiftedSource::rewind() {
  source_->rewind();
  places_.assign(places_.size(), Place());
}

std::vector<double> ShiftedSource::side_records(const SideLocation& location) {
  Warp warp;
  for (const ClockShifts::Change& change : shifts_->of(location.rank)) {
    warp.add(change.enter, change.enter + change.enter_shift);
    warp.add(change.leave, change.leave + change.leave_shift);
  }
  std::vector<double> times = source_->side_records(location);
  for (double& time : times) time = std::round(warp(time));
  return times;
}

}  // namespace rubato
