#include "replay/analyse/place_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "replay/analyse/function_results.h"
#include "replay/analyse/site_summary.h"

namespace rubato {
namespace {

std::string without_directories(const std::string& file) {
  return file.substr(file.find_last_of('/') + 1);
}

NamedPlace named(const Place& place, const CallTree& paths, const TraceDefinitions& trace,
                 const std::vector<FunctionName>& functions, const std::vector<CallSite>& sites) {
  NamedPlace named;
  named.kind = place.kind;
  if (place.call < trace.calls.size()) named.call = trace.calls[place.call].name;
  if (place.function < functions.size()) {
    named.function = functions[place.function].name;
    named.function_place = functions[place.function].place();
  }
  named.path = path_of(place.site, place.function, sites, functions);
  const std::vector<CallTree::Node>& nodes = paths.nodes();
  if (named.path.size() <= 1 && place.path != CallTree::kRoot) {
    for (uint32_t i = nodes[place.path].parent; i != CallTree::kRoot; i = nodes[i].parent)
      named.path.insert(named.path.begin(), functions[nodes[i].function].place());
  }
  if (place.kind == Place::Kind::kCompute && named.path.size() > 1)
    named.caller = named.path[named.path.size() - 2];
  if (place.site >= sites.size()) return named;
  const CallSite& site = sites[place.site];
  named.site = site_text(site);
  if (site.caller < sites.size() && sites[site.caller].function < functions.size())
    named.caller = functions[sites[site.caller].function].place();
  return named;
}

/// Adds to the half-width `sum` that of a time which is `ticks` instead of `before`.
void add_error(double& sum, double error2, double ticks, double before, double ticks_per_second) {
  if (error2 > 0) sum = std::hypot(sum, std::sqrt(error2) * ticks / before / ticks_per_second);
}

/// Divides the compute of a timeline's functions over their call paths, and adds it to all
/// functions on a path.
void add_inclusive(const CallTree& tree, const WaitPlaces::FunctionSums& sums, double probe,
                   const std::vector<uint32_t>& alike, int rank, double ticks_per_second,
                   std::map<uint32_t, FunctionEfficiency>& functions) {
  const std::vector<CallTree::Node>& nodes = tree.nodes();
  std::vector<double> ticks(nodes.size());
  std::map<uint32_t, double> recorded;
  for (size_t i = 1; i < nodes.size(); ++i) {
    ticks[i] = std::max(0.0, nodes[i].ticks - probe * static_cast<double>(nodes[i].probes));
    recorded[alike[nodes[i].function]] += ticks[i];
  }
  const std::vector<double> own_before = ticks, before = tree.inclusive(ticks);
  for (size_t i = 1; i < nodes.size(); ++i) {
    const auto sum = sums.find(alike[nodes[i].function]);
    const double all = recorded[alike[nodes[i].function]];
    ticks[i] = sum == sums.end() || !(all > 0) ? 0 : ticks[i] / all * sum->second.compute;
  }
  const std::vector<double> inclusive = tree.inclusive(ticks);
  for (size_t i = 1; i < nodes.size(); ++i) {
    FunctionEfficiency& function = functions[alike[nodes[i].function]];
    function.calls += nodes[i].calls;
    add_error(function.compute_error, nodes[i].own_error2, ticks[i], own_before[i],
              ticks_per_second);
    if (tree.is_recursive(i, alike)) continue;
    function.inclusive[rank] += inclusive[i] / ticks_per_second;
    add_error(function.inclusive_error, nodes[i].error2, inclusive[i], before[i], ticks_per_second);
  }
}

}  // namespace

std::optional<Sampling> sampling_of(const EventSource& source) {
  const SampleTotals* const totals = source.sample_totals();
  if (!totals || !totals->are_functions) return {};
  const double second = source.definitions().ticks_per_second;
  Sampling sampling{0, totals->period / second};
  for (const auto& [timeline, sums] : totals->sums) {
    for (const auto& [function, sum] : sums) {
      sampling.samples += sum.exclusive_samples;
      sampling.period += sum.exclusive / second;
    }
  }
  sampling.period /= static_cast<double>(std::max<uint64_t>(1, sampling.samples));
  return sampling;
}

// (A site without debug information is one string: module, function and offset.)
std::string site_text(const CallSite& site) {
  return site.line == 0 ? site.file
                        : without_directories(site.file) + ':' + std::to_string(site.line);
}

double FunctionEfficiency::sum_of(const std::vector<double>& values) const {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double FunctionEfficiency::load_balance() const {
  const double most = *std::max_element(compute.begin(), compute.end());
  return most > 0 ? sum_of(compute) / static_cast<double>(compute.size()) / most : 1;
}

double FunctionEfficiency::share(double seconds) const {
  const double all = sum_of(compute) + sum_of(mpi);
  return all > 0 ? seconds / all : 0;
}

double FunctionEfficiency::compute_share() const {
  return share(sum_of(compute));
}

double FunctionEfficiency::wait_share() const {
  return share(sum_of(waits));
}

double FunctionEfficiency::transfer_share() const {
  return share(sum_of(mpi) - sum_of(waits));
}

PlaceSummary place_summary(const WaitPlaces& seen, const EventSource& source, double probe) {
  const TraceDefinitions& trace = source.definitions();
  const std::vector<FunctionName> functions = source.functions();
  const std::vector<CallSite> sites = source.call_sites();
  const auto seconds = [&](double ticks) { return ticks / trace.ticks_per_second; };
  PlaceSummary summary;
  summary.knows_functions = !functions.empty();
  for (const Place& place : seen.places())
    summary.places.push_back(named(place, seen.paths(), trace, functions, sites));
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    for (const auto& [key, sum] : seen.waits(rank))
      summary.waits.push_back(
          {rank, key.first, trace.comms[key.second].name, sum.count, seconds(sum.ticks)});
    for (const auto& [key, ticks] : seen.delays(rank))
      summary.delays.push_back({rank, key.first, key.second, seconds(ticks)});
  }
  std::stable_sort(summary.delays.begin(), summary.delays.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  summary.sampling = sampling_of(source);
  std::map<uint32_t, FunctionEfficiency> found;  // kNoPlace comes last
  const FunctionTotals* const totals = source.function_totals();
  const std::vector<uint32_t> alike = alike_functions(functions);
  const auto add = [&](uint32_t number) -> FunctionEfficiency& {
    const auto [entry, is_new] = found.try_emplace(number);
    FunctionEfficiency& function = entry->second;
    if (!is_new) return function;
    if (number < functions.size()) {
      function.name = functions[number].name;
      function.place = functions[number].place();
    }
    for (std::vector<double>* values : {&function.compute, &function.mpi, &function.waits})
      values->resize(trace.ranks());
    if (totals) function.inclusive.resize(trace.ranks());
    return function;
  };
  for (int timeline = 0; timeline < trace.timelines(); ++timeline) {
    const int rank = trace.rank_of(timeline);
    for (const auto& [number, sum] : seen.functions(timeline)) {
      FunctionEfficiency& function = add(number);
      function.compute[rank] += seconds(sum.compute);
      function.mpi[rank] += seconds(sum.mpi);
      function.waits[rank] += seconds(sum.waits);
    }
    if (!totals || !totals->count(timeline)) continue;
    const CallTree& tree = totals->at(timeline);
    for (size_t i = 1; i < tree.nodes().size(); ++i) add(alike[tree.nodes()[i].function]);
    add_inclusive(tree, seen.functions(timeline), probe, alike, rank, trace.ticks_per_second,
                  found);
  }
  if (totals && found.count(kNoPlace)) found[kNoPlace].inclusive = found[kNoPlace].compute;
  for (auto& [number, function] : found) {
    if (function.sum_of(function.compute) + function.sum_of(function.mpi) +
            function.sum_of(function.inclusive) >
        0)
      summary.functions.push_back(std::move(function));
  }
  std::stable_sort(summary.functions.begin(), summary.functions.end(),
                   [](const FunctionEfficiency& a, const FunctionEfficiency& b) {
                     return a.sum_of(a.compute) + a.sum_of(a.mpi) >
                            b.sum_of(b.compute) + b.sum_of(b.mpi);
                   });
  return summary;
}

std::vector<WaitAtPlace> waits_by_place(const PlaceSummary& summary) {
  using Look = std::tuple<Place::Kind, std::string, std::string, std::string, std::string>;
  std::map<Look, size_t> first;
  std::vector<size_t> alike;  // by place: the first one with another path or none
  for (const NamedPlace& each : summary.places) {
    const Look look(each.kind, each.call, each.function_place, each.site, each.caller);
    alike.push_back(first.emplace(look, alike.size()).first->second);
  }
  std::map<std::pair<size_t, std::string>, WaitAtPlace> rows;
  for (const PlaceSummary::Wait& wait : summary.waits) {
    WaitAtPlace& row = rows[{alike[wait.place], wait.communicator}];
    row.place = alike[wait.place];
    row.communicator = wait.communicator;
    row.count += wait.count;
    row.seconds += wait.seconds;
  }
  struct Most {
    const PlaceSummary::Delay* delay = nullptr;
    double all = 0;
  };
  std::map<size_t, Most> causes;  // by place where ranks wait
  for (const PlaceSummary::Delay& delay : summary.delays) {
    Most& most = causes[alike[delay.waiting]];
    most.all += delay.seconds;
    if (!most.delay || delay.seconds > most.delay->seconds) most.delay = &delay;
  }
  std::vector<WaitAtPlace> sorted;
  for (auto& [key, row] : rows) {
    const auto found = causes.find(row.place);
    if (found != causes.end()) {
      row.rank = found->second.delay->rank;
      row.cause = found->second.delay->place;
      row.caused = found->second.delay->seconds;
      row.all = found->second.all;
    }
    sorted.push_back(row);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const WaitAtPlace& a, const WaitAtPlace& b) {
    return a.seconds > b.seconds;
  });
  return sorted;
}

CauseSummary cause_summary(const WaitCauses& causes, const CriticalPath& path,
                           const TraceDefinitions& trace) {
  const auto seconds = [&](double ticks) { return ticks / trace.ticks_per_second; };
  const auto parts = [&](const std::map<uint16_t, double>& by_call) {
    CauseSummary::Parts named;
    for (const auto& [call, ticks] : by_call)
      named.emplace_back(trace.calls[call].name, seconds(ticks));
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return named;
  };
  CauseSummary summary;
  for (const auto& [key, sum] : causes.waits())
    summary.waits.push_back(
        {key.rank, trace.calls[key.call].name, key.pattern, sum.count, seconds(sum.ticks)});
  for (const auto& [pair, ticks] : causes.direct())
    summary.direct.push_back({pair.waiting, pair.causing, seconds(ticks)});
  for (const double ticks : causes.roots()) summary.roots.push_back(seconds(ticks));
  const PathSums sums = path.find();
  summary.elapsed = seconds(sums.elapsed);
  summary.late_start = seconds(sums.late_start);
  for (const double ticks : sums.compute) summary.compute.push_back(seconds(ticks));
  summary.calls = parts(sums.calls);
  summary.crossings = parts(sums.crossings);
  summary.hops = sums.hops;
  return summary;
}

}  // namespace rubato
