#include "replay/judge/costly_function.h"

#include <algorithm>
#include <map>

#include "replay/analyse/site_summary.h"
#include "replay/observe/kept_losses.h"
#include "replay/study/run_replay.h"
#include "replay/trace/mpi_calls.h"

namespace rubato {
namespace {

double beyond_waits(const SiteRow& row) {
  return row.time - row.waits;
}

}  // namespace

bool is_of_messages(const std::string& call) {
  const MpiCallInfo info = mpi_call_info(call);
  return info.waits || info.tests || info.without_records == CallClass::kMessage;
}

std::optional<CostlyFunction> costly_function(EventSource& source, const Scenario& scenario,
                                              ReplayOptions options) {
  if (!source.call_places()) return {};
  SiteProfile seen(source, kept_losses(scenario, options.keep_stolen));
  options.observers = {&seen};
  options.wait_states = true;
  options.total_functions = options.verify = false;
  run_replay(source, {scenario}, options);

  const std::vector<SiteRow> rows = site_rows(seen, source);
  std::map<std::string, double> seconds;  // by function
  double all = 0;
  for (const SiteRow& row : rows) {
    seconds[row.function] += beyond_waits(row);
    all += beyond_waits(row);
  }
  const auto most =
      std::max_element(seconds.begin(), seconds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == seconds.end() || most->first.empty() || !(most->second > 0)) return {};
  CostlyFunction found;
  found.function = most->first;
  found.share = most->second / all;
  const SiteRow* slowest = nullptr;
  for (const SiteRow& row : rows) {
    if (row.function != found.function) continue;
    if (is_of_messages(row.call)) {
      found.messages += row.sent;
      found.bytes += row.bytes_sent;
    }
    if (!slowest || beyond_waits(row) > beyond_waits(*slowest)) slowest = &row;
  }
  found.call = slowest->call;
  found.callers.assign(slowest->path.begin(), slowest->path.end() - 1);
  return found;
}

}  // namespace rubato
