#include "tools/tables/call_figures.h"

namespace rubato {

std::span<const CallFigure> call_figures() {
  using Value = CallFigure::Value;
  constexpr CallFigure::Shown kNo = CallFigure::kNo, kIfAny = CallFigure::kIfAny,
                              kAlways = CallFigure::kAlways;
  static constexpr CallFigure kFigures[] = {
      // key, heading, measure, shown in text, CSV, JSON by rank, JSON of all ranks, value
      {"calls", "Calls", Measure::kCount, kAlways, kAlways, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.calls; }},
      {"time", "Time", Measure::kSeconds, kAlways, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.time; }},
      {"waits", "Waits", Measure::kWaits, kAlways, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.waited(); }, false, true},
      {"own_work", "Own work", Measure::kShare, kIfAny, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.own_work; }},
      {"time_min", "Min", Measure::kSeconds, kIfAny, kIfAny, kIfAny, kIfAny,
       [](const CallSum& sum) -> Value { return sum.lengths.least; }},
      {"time_mean", "Mean", Measure::kSeconds, kAlways, kNo, kNo, kNo,
       [](const CallSum& sum) -> Value { return sum.time / static_cast<double>(sum.calls); }},
      {"time_max", "Max", Measure::kSeconds, kIfAny, kIfAny, kIfAny, kIfAny,
       [](const CallSum& sum) -> Value { return sum.lengths.most; }},
      {"outside", "Outside", Measure::kSeconds, kNo, kIfAny, kAlways, kNo,
       [](const CallSum& sum) -> Value { return sum.outside; }},
      // (CSV has the next four by size.)
      {"sends", "Sends", Measure::kCount, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.sent.count; }},
      {"bytes_sent", "Bytes sent", Measure::kBytes, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.sent.bytes; }},
      {"receives", "Receives", Measure::kCount, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.received.count; }},
      {"bytes_received", "Bytes received", Measure::kBytes, kNo, kNo, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.received.bytes; }},
      {"bytes_completed", "Bytes completed", Measure::kBytes, kAlways, kIfAny, kAlways, kAlways,
       [](const CallSum& sum) -> Value { return sum.bytes_completed; }},
      {"effective_bandwidth", "Effective", Measure::kRate, kAlways, kNo, kNo, kAlways,
       [](const CallSum& sum) -> Value { return sum.effective_bandwidth(); }, true},
      {"raw_bandwidth", "Raw", Measure::kRate, kAlways, kNo, kNo, kAlways,
       [](const CallSum& sum) -> Value { return sum.raw_bandwidth(); }, true, true},
  };
  return kFigures;
}

double number_of(const CallFigure::Value& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

}  // namespace rubato
