#include "tracer/record/time_sums.h"

#include <algorithm>

namespace rubato {
inline namespace tracing {
namespace {

/// The call is one of pthreads.
bool is_of_threads(record::Reader items) {
  if (items.done()) return false;
  const Item first = items.item();
  return first == Item::kThreadCreate || first == Item::kThreadWait;
}

/// Nanoseconds stolen inside of a call.
uint64_t stolen_in(record::Reader items) {
  while (!items.done()) {
    if (items.item() == Item::kStolen) return items.value();
    items.pass();
  }
  return 0;
}

}  // namespace

TimeSums::Booked TimeSums::add(const record::Record& r) {
  // A switch may have been made while the thread was inside a call.
  const uint64_t enter = std::max(r.enter, last_);
  if (!any()) start_ = enter;
  last_ = std::max(r.leave, enter);
  if (over_) return {};
  if (r.id >= kFirstMark) {
    mark(r, enter);
    return {};
  }
  if (r.left && !is_of_threads(r.items)) return call(r, enter);
  if (r.left) stolen_ += stolen_in(r.items);
  return {};
}

void TimeSums::mark(const record::Record& r, uint64_t enter) {
  if (r.id == kMarkStolen) {
    record::Reader words = r.items;
    stolen_ += words.word();
    asked_at_ = enter;
    asked_ticks_ = words.word();
    tracer_ += asked_ticks_;
  } else if (r.id == kMarkTracerTime) {
    tracer_ += last_ - enter;
  } else if (r.id == kMarkOff) {
    if (off_since_ == 0) off_since_ = enter;
  } else if (r.id == kMarkOn && off_since_ != 0) {
    off_ += enter - off_since_;
    off_since_ = 0;
  }
}

TimeSums::Booked TimeSums::call(const record::Record& r, uint64_t enter) {
  if (r.id == bounds_.init || r.id == bounds_.init_thread) {
    start_ = last_;
    tracer_ = off_ = stolen_ = 0;
    calls_.fill({});
    return {Booked::kInit, last_ - enter, 0};
  }
  if (r.id == bounds_.finalize) {
    over_ = true;
    end_ = enter;
    return {Booked::kOutside, last_ - enter, 0};
  }
  // The time of the read is in the call that begins at its mark.
  const uint64_t asked = enter == asked_at_ ? asked_ticks_ : 0;
  const uint64_t stolen = stolen_in(r.items);
  const uint64_t ticks = last_ - enter - std::min(asked, last_ - enter);
  CallSum& sum = calls_[r.id];
  ++sum.count;
  sum.ticks += ticks;
  sum.stolen += stolen;
  stolen_ += stolen;
  return {Booked::kInside, ticks, stolen};
}

}  // namespace tracing
}  // namespace rubato
