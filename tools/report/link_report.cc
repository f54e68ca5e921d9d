#include "tools/report/link_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/json_text.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

using json_text::number;

double share(double bytes, double capacity, double seconds) {
  return capacity > 0 && seconds > 0 ? bytes / (capacity * seconds) : 0;
}

/// The time, in seconds, to which shares of links refer.
double span_of(const ScenarioResult& scenario) {
  return scenario.links->span > 0 ? scenario.links->span : scenario.elapsed;
}

/// " (constant load: level 1 30 %)"; "" without a constant load.
std::string constant_loads(const LinkLoads& links) {
  std::string text;
  for (const LinkLoads::Kind& kind : links.kinds) {
    if (kind.load > 0)
      text += fmt::format("{}{} {:.3g} %", text.empty() ? "" : ", ", kind.name, 100 * kind.load);
  }
  return text.empty() ? "" : fmt::format(" (constant load: {})", text);
}

/// Four decimals are enough for shares.
Json four_digits(double value) {
  return std::round(value * 1e4) / 1e4;
}

/// Calls that lose (or gain) time, largest loss first.
std::vector<size_t> losing_calls(const ContentionCost& cost) {
  std::vector<size_t> calls;
  for (size_t call = 0; call < cost.by_call.size(); ++call) {
    if (std::abs(cost.by_call[call]) >= 1e-9) calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [&](size_t a, size_t b) { return cost.by_call[a] > cost.by_call[b]; });
  return calls;
}

}  // namespace

std::string contention_line(const Results& results, const ScenarioResult& scenario) {
  constexpr size_t kShown = 3;
  if (!scenario.contention || !scenario.deadlock.empty()) return "";
  const ContentionCost& cost = *scenario.contention;
  const double lost = scenario.elapsed - cost.elapsed_alone;
  std::vector<size_t> calls = losing_calls(cost);
  std::erase_if(calls, [&](size_t call) { return cost.by_call[call] < 0; });
  if (calls.empty() && std::abs(lost) < 1e-9)
    return fmt::format("Contention on {} has no effect.", scenario.name);
  std::string line =
      lost < 0
          ? fmt::format(
                "With contention {} takes {} less than without: it delays calls on which other "
                "ranks would have waited.",
                scenario.name, show_seconds(-lost))
          : fmt::format("Contention on {} costs {:.1f} % ({}) of the elapsed time", scenario.name,
                        100 * lost / std::max(scenario.elapsed, 1e-300), show_seconds(lost));
  if (lost < 0) return line;
  for (size_t i = 0; i < std::min(kShown, calls.size()); ++i)
    line += fmt::format("{}{} in {}", i == 0 ? ": " : ", ", show_seconds(cost.by_call[calls[i]]),
                        results.calls[calls[i]]);
  return line + (calls.empty() ? "." : ", over all ranks.");
}

Json contention_to_json(const std::vector<std::string>& names, const ScenarioResult& scenario) {
  if (!scenario.contention || !scenario.deadlock.empty()) return nullptr;
  const ContentionCost& cost = *scenario.contention;
  Json calls = Json::object();
  for (const size_t call : losing_calls(cost)) calls[names[call]] = number(cost.by_call[call]);
  return {{"elapsed_alone", number(cost.elapsed_alone)},
          {"mpi", number(cost.mpi)},
          {"calls", std::move(calls)}};
}

std::string links_line(const ScenarioResult& scenario) {
  constexpr size_t kShown = 3;
  if (!scenario.links || scenario.links->flows == 0 || !scenario.deadlock.empty()) return "";
  const LinkLoads& links = *scenario.links;
  std::string line = fmt::format("Busiest links on {}: ", scenario.name);
  for (size_t i = 0; i < std::min(kShown, links.hottest.size()); ++i) {
    const LinkLoads::Hot& link = links.hottest[i];
    line += fmt::format("{}{} {:.0f} %{}", i > 0 ? ", " : "", link.name,
                        100 * (share(link.bytes, link.capacity, span_of(scenario)) + link.load),
                        i == 0 ? " busy" : "");
  }
  line += constant_loads(links);
  if (links.slowed == 0) return line + "; no flow was slowed down.";
  return line + fmt::format("; {} of {} flows were slowed down, by {} on average.", links.slowed,
                            links.flows,
                            show_seconds(links.delay / static_cast<double>(links.slowed)));
}

Json links_to_json(const ScenarioResult& scenario) {
  if (!scenario.links || !scenario.deadlock.empty()) return nullptr;
  const LinkLoads& links = *scenario.links;
  Json kinds = Json::array(), hottest = Json::array();
  for (const LinkLoads::Kind& kind : links.kinds) {
    Json by_bin = Json::array();
    double peak = 0;
    for (const double bytes : kind.by_bin) {
      const double busy = share(bytes, kind.capacity, links.bin) + kind.load;
      peak = std::max(peak, busy);
      by_bin.push_back(four_digits(busy));
    }
    const double mean = share(kind.bytes, kind.capacity, span_of(scenario)) + kind.load;
    kinds.push_back({{"name", kind.name},
                     {"links", kind.links},
                     {"bytes", std::llround(kind.bytes)},
                     {"mean", four_digits(mean)},
                     {"peak", four_digits(peak)},
                     {"by_bin", std::move(by_bin)}});
    if (kind.load > 0) kinds.back()["load"] = four_digits(kind.load);
  }
  for (const LinkLoads::Hot& link : links.hottest) {
    hottest.push_back(
        {{"name", link.name},
         {"bytes", std::llround(link.bytes)},
         {"mean", four_digits(share(link.bytes, link.capacity, span_of(scenario)) + link.load)}});
  }
  return {{"flows", links.flows},         {"slowed", links.slowed},
          {"delay", number(links.delay)}, {"begin", number(links.begin)},
          {"bin", number(links.bin)},     {"kinds", std::move(kinds)},
          {"hottest", std::move(hottest)}};
}

Json drawing_for_page(const ScenarioResult& scenario) {
  if (!scenario.links || !scenario.deadlock.empty()) return nullptr;
  const LinkLoads::Drawing& drawing = scenario.links->drawing;
  if (drawing.shape.cables.empty()) return nullptr;
  Json vertices = Json::array(), cables = Json::array();
  for (const TopologyDrawing::Vertex& vertex : drawing.shape.vertices)
    vertices.push_back({four_digits(vertex.x), four_digits(vertex.y), vertex.name, vertex.is_node});
  for (size_t i = 0; i < drawing.shape.cables.size(); ++i) {
    const TopologyDrawing::Cable& cable = drawing.shape.cables[i];
    const LinkLoads::Drawing::Busy& busy = drawing.busy[i];
    cables.push_back(
        {cable.from, cable.to, four_digits(share(busy.there, 1, span_of(scenario)) + busy.load),
         four_digits(share(busy.back, 1, span_of(scenario)) + busy.load), cable.bends});
  }
  return {{"round", drawing.shape.is_round},
          {"vertices", std::move(vertices)},
          {"cables", std::move(cables)},
          {"all_cables", drawing.cables}};
}

}  // namespace rubato
