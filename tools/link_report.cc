#include "tools/link_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/json_text.h"
#include "tools/numbers.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using json_text::number;

double share(double bytes, double capacity, double seconds) {
  return capacity > 0 && seconds > 0 ? bytes / (capacity * seconds) : 0;
}

/// Four digits behind the point: more than any reader of shares needs.
Json rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

}  // namespace

std::string links_line(const ScenarioResult& scenario) {
  constexpr size_t kShown = 3;
  if (!scenario.links || scenario.links->flows == 0 || !scenario.deadlock.empty()) return "";
  const LinkLoads& links = *scenario.links;
  std::string line = fmt::format("Hottest links on {}: ", scenario.name);
  for (size_t i = 0; i < std::min(kShown, links.hottest.size()); ++i) {
    const LinkLoads::Hot& link = links.hottest[i];
    line += fmt::format("{}{} {:.0f} %{}", i > 0 ? ", " : "", link.name,
                        100 * share(link.bytes, link.capacity, scenario.elapsed),
                        i == 0 ? " busy" : "");
  }
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
      peak = std::max(peak, share(bytes, kind.capacity, links.bin));
      by_bin.push_back(rounded(share(bytes, kind.capacity, links.bin)));
    }
    kinds.push_back({{"name", kind.name},
                     {"links", kind.links},
                     {"bytes", std::llround(kind.bytes)},
                     {"mean", rounded(share(kind.bytes, kind.capacity, scenario.elapsed))},
                     {"peak", rounded(peak)},
                     {"by_bin", std::move(by_bin)}});
  }
  for (const LinkLoads::Hot& link : links.hottest) {
    hottest.push_back({{"name", link.name},
                       {"bytes", std::llround(link.bytes)},
                       {"mean", rounded(share(link.bytes, link.capacity, scenario.elapsed))}});
  }
  return {{"flows", links.flows},         {"slowed", links.slowed},
          {"delay", number(links.delay)}, {"begin", number(links.begin)},
          {"bin", number(links.bin)},     {"kinds", std::move(kinds)},
          {"hottest", std::move(hottest)}};
}

}  // namespace rubato
