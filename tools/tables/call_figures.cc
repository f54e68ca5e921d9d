#include "tools/tables/call_figures.h"

namespace rubato {

std::span<const CallFigure> call_figures() {
  using Value = CallFigure::Value;
  constexpr CallFigure::Shown kNo = CallFigure::kNo, kIfAny = CallFigure::kIfAny,
                              kAlways = CallFigure::kAlways;
  static constexpr CallFigure kFigures[] = {
      // key, heading, as, shown in text, CSV, JSON by rank, JSON of all ranks, value
      {"calls", "Calls", As::kCount, kAlways, kAlways, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.calls; }},
      {"time", "Time", As::kSeconds, kAlways, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.time; }},
      {"waits", "Waits", As::kShare, kAlways, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.waited(); }, false, true, true},
      {"own_work", "Own work", As::kShare, kIfAny, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.own_work; }},
      {"time_min", "Min", As::kSeconds, kIfAny, kIfAny, kIfAny, kIfAny,
       [](const CallSum& sum) -> Value { return sum.lengths.least; }},
      {"time_mean", "Mean", As::kSeconds, kAlways, kNo, kNo, kNo,
       [](const CallSum& sum) -> Value { return sum.time / static_cast<double>(sum.calls); }},
      {"time_max", "Max", As::kSeconds, kIfAny, kIfAny, kIfAny, kIfAny,
       [](const CallSum& sum) -> Value { return sum.lengths.most; }},
      {"outside", "Outside", As::kSeconds, kNo, kIfAny, kAlways, kNo,
       [](const CallSum& sum) -> Value { return sum.outside; }},
      // (CSV has the next four by size.)
      {"sends", "Sends", As::kCount, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.sent.count; }},
      {"bytes_sent", "Bytes sent", As::kBytes, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.sent.bytes; }},
      {"receives", "Receives", As::kCount, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.received.count; }},
      {"bytes_received", "Bytes received", As::kBytes, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.received.bytes; }},
      {"bytes_completed", "Bytes completed", As::kBytes, kAlways, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.bytes_completed; }},
      {"effective_bandwidth", "Effective", As::kRate, kAlways, kNo, kNo, kAlways,
       [](const CallSum& sum) -> Value { return sum.effective_bandwidth(); }, true},
      {"raw_bandwidth", "Raw", As::kRate, kAlways, kNo, kNo, kAlways,
       [](const CallSum& sum) -> Value { return sum.raw_bandwidth(); }, true, true},
  };
  return kFigures;
}

double number_of(const CallFigure::Value& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

}  // namespace rubato
