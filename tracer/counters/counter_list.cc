#include "tracer/counters/counter_list.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tracer/counters/kernel_events.h"
#include "tracer/counters/papi_events.h"

namespace rubato {
inline namespace tracing {

std::vector<std::string> counter_names(const std::string& list) {
  if (list.empty()) return {};
  std::vector<std::string> names(1);
  for (const char c : list) {
    if (c == ',')
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}

CounterInfo counter_info(const std::string& name) {
  if (const KernelEvent* event = kernel_event(name))
    return {name, event->unit, event->description, false};
  return {name, "#", "", true};
}

namespace {

/// Why the list is wrong on any machine.
std::string trouble_of_list(const std::vector<std::string>& names) {
  if (names.empty()) return "expected names, separated by commas";
  if (names.size() > kMaxCounters)
    return "at most " + std::to_string(kMaxCounters) + " counters are possible";
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) return "expected names, separated by commas";
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i)) {
      return names[i] + " is named twice";
    }
  }
  return "";
}

std::string kernel_names() {
  std::string all;
  for (const KernelEvent& event : kernel_events())
    all += (all.empty() ? "" : ", ") + std::string(event.name);
  return all;
}

}  // namespace

CounterTrouble try_counters(const std::string& list) {
  const std::vector<std::string> names = counter_names(list);
  if (std::string trouble = trouble_of_list(names); !trouble.empty())
    return {CounterTrouble::Kind::kList, std::move(trouble)};
  std::vector<std::string> of_papi;
  for (const std::string& name : names) {
    const KernelEvent* const event = kernel_event(name);
    if (event == nullptr) {
      of_papi.push_back(name);
      continue;
    }
    KernelCounters one;
    const int error = one.open({event});
    one.close();
    if (error == 0) continue;
    return {CounterTrouble::Kind::kMachine, error == EACCES || error == EPERM
                                                ? how_to_permit(name)
                                                : name + ": " + std::strerror(error)};
  }
  if (of_papi.empty()) return {};
  if (const std::string missing = PapiCounters::load(); !missing.empty()) {
    return {CounterTrouble::Kind::kMachine,
            of_papi.front() + " needs PAPI, and " + missing + "; without it: " + kernel_names()};
  }
  const auto trouble_with = [](const std::vector<std::string>& events) {
    PapiCounters counters;
    std::string trouble = counters.open(events);
    counters.close();
    return trouble;
  };
  for (const std::string& name : of_papi) {
    const std::string trouble = trouble_with({name});
    if (trouble.empty()) continue;
    return {CounterTrouble::Kind::kMachine,
            trouble + " (papi_avail and papi_native_avail list what it can count; without PAPI: " +
                kernel_names() + ")"};
  }
  if (std::string trouble = trouble_with(of_papi); !trouble.empty()) {
    return {CounterTrouble::Kind::kMachine,
            "the processor cannot count all of these at once: " + trouble};
  }
  return {};
}

}  // namespace tracing
}  // namespace rubato
