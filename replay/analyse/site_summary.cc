#include "replay/analyse/site_summary.h"

#include <algorithm>
#include <numeric>

namespace rubato {
namespace {

std::string text_of(const CallSite& site, const std::vector<FunctionName>& functions) {
  std::string line = site.file;
  // (A site without debug information is one string: module, function and offset.)
  if (site.line != 0)
    line = site.file.substr(site.file.find_last_of('/') + 1) + ':' + std::to_string(site.line);
  if (site.function >= functions.size()) return line;
  const std::string& name = functions[site.function].name;
  return site.line == 0 ? name : name + " (" + line + ")";
}

}  // namespace

std::vector<std::string> path_of(uint32_t number, uint32_t function,
                                 const std::vector<CallSite>& sites,
                                 const std::vector<FunctionName>& functions) {
  std::vector<std::string> path;
  if (number < sites.size() && sites[number].function >= functions.size()) {
    CallSite site = sites[number];
    site.function = function;  // recorded as such, not as part of a call path
    return {text_of(site, functions)};
  }
  for (uint32_t at = number; at < sites.size(); at = sites[at].caller)
    path.push_back(text_of(sites[at], functions));
  std::reverse(path.begin(), path.end());
  if (path.empty() && function < functions.size()) path.push_back(functions[function].place());
  return path;
}

std::vector<SiteRow> site_rows(const SiteProfile& seen, const EventSource& source) {
  const TraceDefinitions& trace = source.definitions();
  const std::vector<FunctionName> functions = source.functions();
  const std::vector<CallSite> sites = source.call_sites();
  std::vector<SiteRow> rows;
  if (sites.empty() && functions.empty()) return rows;
  for (const auto& [key, sum] : seen.sites()) {
    SiteRow row;
    row.call = trace.calls[key.call].name;
    row.path = path_of(key.site, key.function, sites, functions);
    const uint32_t function = key.function < functions.size() || key.site >= sites.size()
                                  ? key.function
                                  : sites[key.site].function;
    if (function < functions.size()) row.function = functions[function].place();
    row.count = sum.count;
    for (const double ticks : sum.by_rank) {
      if (ticks < 0) continue;
      const double time = ticks / trace.ticks_per_second;
      row.rank_least = std::min(row.rank_least.value_or(time), time);
      row.rank_most = std::max(row.rank_most.value_or(time), time);
      ++row.ranks;
    }
    row.time = sum.time / trace.ticks_per_second;
    row.least = sum.least / trace.ticks_per_second;
    row.most = sum.most / trace.ticks_per_second;
    row.waits = sum.waits / trace.ticks_per_second;
    row.messages = sum.messages;
    row.bytes = sum.bytes;
    row.smallest = sum.messages > 0 ? sum.smallest : 0;
    row.largest = sum.largest;
    row.sent = sum.sent;
    row.bytes_sent = sum.bytes_sent;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SiteRow& a, const SiteRow& b) { return a.time > b.time; });
  return rows;
}

double SampledFunction::exclusive_sum() const {
  return std::accumulate(exclusive.begin(), exclusive.end(), 0.0);
}

std::vector<SampledFunction> sampled_functions(const EventSource& source) {
  const SampleTotals* const totals = source.sample_totals();
  std::vector<SampledFunction> rows;
  if (!totals) return rows;
  const TraceDefinitions& trace = source.definitions();
  const std::vector<FunctionName> functions = source.functions();
  std::map<uint32_t, SampledFunction> found;
  for (const auto& [timeline, sums] : totals->sums) {
    const int rank = trace.rank_of(timeline);
    for (const auto& [function, sum] : sums) {
      SampledFunction& row = found[function];
      row.exclusive.resize(trace.ranks());
      row.inclusive.resize(trace.ranks());
      row.exclusive[rank] += sum.exclusive / trace.ticks_per_second;
      row.inclusive[rank] += sum.inclusive / trace.ticks_per_second;
      row.exclusive_samples += sum.exclusive_samples;
      row.inclusive_samples += sum.inclusive_samples;
    }
  }
  for (auto& [function, row] : found) {
    row.name = functions[function].name;
    row.place = functions[function].place();
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.exclusive_sum() > b.exclusive_sum();
  });
  return rows;
}

}  // namespace rubato
