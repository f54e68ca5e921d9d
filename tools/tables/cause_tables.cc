#include "tools/tables/cause_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using json_text::number;

constexpr size_t kPartsShown = 3;
constexpr double kLeastShown = 0.001;  ///< of the path

/// "MPI_Send 3.1 %, MPI_Wait 1.0 %, others 0.2 %"
std::string shares(const CauseSummary::Parts& parts, double whole) {
  std::string text;
  double others = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= kPartsShown) {
      others += parts[i].second;
      continue;
    }
    if (parts[i].second < kLeastShown * whole) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parts[i].first,
                        show_share(parts[i].second, whole));
  }
  if (others > 0 && others >= kLeastShown * whole)
    text += fmt::format(", others {}", show_share(others, whole));
  return text;
}

std::string wait_table(const CauseSummary& causes, int width) {
  std::map<std::pair<std::string, WaitPattern>, WaitSum> sums;
  for (const CauseSummary::Wait& wait : causes.waits) {
    WaitSum& sum = sums[{wait.call, wait.pattern}];
    sum.count += wait.count;
    sum.ticks += wait.seconds;
  }
  std::vector<std::pair<std::pair<std::string, WaitPattern>, WaitSum>> rows(sums.begin(),
                                                                            sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.ticks > b.second.ticks; });
  Table table;
  for (const auto& [key, sum] : rows) {
    table.add({{"Call", key.first},
               {"Waits for", kWaitPatternNames[static_cast<int>(key.second)]},
               {"Times", sum.count, As::kCount},
               {"Time", sum.ticks, As::kSeconds},
               {"Mean", sum.ticks / static_cast<double>(sum.count), As::kSeconds}});
  }
  return table.section("", width);
}

std::string root_table(const CauseSummary& causes, int width) {
  const double all = std::accumulate(causes.roots.begin(), causes.roots.end(), 0.0);
  if (!(all > 0)) return "";
  const size_t ranks = causes.roots.size();
  std::vector<double> direct(ranks);
  std::vector<std::pair<double, int>> most(ranks, {0, -1});  // the rank that it delays most
  for (const CauseSummary::Pair& pair : causes.direct) {
    direct[pair.causing] += pair.seconds;
    most[pair.causing] = std::max(most[pair.causing], {pair.seconds, pair.waiting});
  }
  std::vector<size_t> order(ranks);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return causes.roots[a] > causes.roots[b]; });
  Table table;
  for (const size_t rank : order) {
    const int delayed = most[rank].second;
    table.add({{"Rank", rank},
               {"Root cause of", causes.roots[rank], As::kSeconds},
               {"of all waits", show_share(causes.roots[rank], all)},
               {"Direct cause of", direct[rank], As::kSeconds},
               {"Most for rank", delayed < 0 ? "-" : std::to_string(delayed)}});
  }
  return table.section("", width);
}

Json parts_to_json(const CauseSummary::Parts& parts) {
  Json json = Json::object();
  for (const auto& [name, seconds] : parts) json[name] = number(seconds);
  return json;
}

}  // namespace

std::string path_line(const CauseSummary& causes) {
  if (!(causes.elapsed > 0)) return "Critical path: none, the run takes no time.";
  CauseSummary::Parts ranks;
  for (size_t rank = 0; rank < causes.compute.size(); ++rank)
    ranks.emplace_back(fmt::format("rank {}", rank), causes.compute[rank]);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const double compute = std::accumulate(causes.compute.begin(), causes.compute.end(), 0.0);
  std::string line = fmt::format("Critical path: compute {}", show_share(compute, causes.elapsed));
  const std::string of_ranks = shares(ranks, causes.elapsed);
  if (!of_ranks.empty()) line += " (" + of_ranks + ")";
  const auto add = [&](const std::string& what, const CauseSummary::Parts& parts) {
    const std::string text = shares(parts, causes.elapsed);
    if (!text.empty()) line += "; " + what + text;
  };
  add("MPI time without waiting ", causes.calls);
  add(counted(causes.hops, "message or collective, including transfer, received in ",
              "messages and collectives, including transfer, received in "),
      causes.crossings);
  if (causes.late_start > kLeastShown * causes.elapsed)
    line += fmt::format("; late start {}", show_share(causes.late_start, causes.elapsed));
  return line + ".";
}

std::string pattern_key(WaitPattern pattern) {
  return json_text::key_of(kWaitPatternNames[static_cast<int>(pattern)]);
}

std::string causes_text(const CauseSummary& causes, int width) {
  return wrap(path_line(causes), width, 2) + wait_table(causes, width) + root_table(causes, width);
}

Json causes_to_json(const CauseSummary& causes) {
  Json waits = Json::array(), direct = Json::array();
  for (const CauseSummary::Wait& wait : causes.waits) {
    waits.push_back({{"rank", wait.rank},
                     {"call", wait.call},
                     {"pattern", pattern_key(wait.pattern)},
                     {"count", wait.count},
                     {"time", number(wait.seconds)}});
  }
  for (const CauseSummary::Pair& pair : causes.direct)
    direct.push_back(
        {{"waiting", pair.waiting}, {"causing", pair.causing}, {"time", number(pair.seconds)}});
  return {{"waits", std::move(waits)},
          {"direct", std::move(direct)},
          {"roots", causes.roots},
          {"path",
           {{"elapsed", number(causes.elapsed)},
            {"late_start", number(causes.late_start)},
            {"compute", causes.compute},
            {"calls", parts_to_json(causes.calls)},
            {"crossings", parts_to_json(causes.crossings)},
            {"hops", causes.hops}}}};
}

}  // namespace rubato
