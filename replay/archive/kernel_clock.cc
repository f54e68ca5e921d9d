#include "replay/archive/kernel_clock.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "replay/archive/record_callback.h"

namespace rubato {

void KernelClock::enter(uint32_t region, double time) {
  if (open_.empty()) begin_ = time;
  open_.emplace_back(region, time);
  last_ = time;
}

void KernelClock::leave(uint32_t region, double time) {
  last_ = time;
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const auto& open) { return open.first == region; });
  if (found == open_.rend()) return;  // its enter was not recorded
  KernelSums::Kernel& kernel = by_region_[region];
  ++kernel.count;
  kernel.time += time - found->second;
  open_.erase(std::next(found).base());
  if (open_.empty()) ticks_ += time - begin_;
}

void KernelClock::end_stream() {
  while (!open_.empty()) leave(open_.back().first, last_);
  ++streams_;
}

KernelSums KernelClock::sums(const Archive& archive) const {
  const double second = archive.definitions.ticks_per_second;
  KernelSums sums{streams_, 0, ticks_ / second, {}};
  std::map<std::string, KernelSums::Kernel> by_name;
  for (const auto& [region, kernel] : by_region_) {
    const auto number = archive.index.number_of_function.get(region);
    KernelSums::Kernel& sum = by_name[number ? archive.index.functions[*number].second.name : ""];
    sum.count += kernel.count;
    sum.time += kernel.time / second;
    sums.count += kernel.count;
  }
  for (const auto& [name, sum] : by_name) sums.by_name.push_back({name, sum.count, sum.time});
  std::stable_sort(sums.by_name.begin(), sums.by_name.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  return sums;
}

namespace {

template <auto kMethod>
OTF2_CallbackCode on_region(RUBATO_RECORD, OTF2_RegionRef region) {
  (void)event;
  return guarded(user, [&](EventLocation& l) { (l.kernels->*kMethod)(region, l.ticks(time)); });
}

}  // namespace

void set_kernel_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_region<&KernelClock::enter>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_region<&KernelClock::leave>);
}

}  // namespace rubato
