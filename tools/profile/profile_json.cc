#include "replay/analyse/other_rows.h"
#include "tools/format/json_text.h"
#include "tools/profile/profile_report.h"
#include "tools/report/report_json.h"
#include "tools/tables/call_figures.h"
#include "tools/tables/cause_tables.h"
#include "tools/tables/place_tables.h"
#include "tools/tables/profile_tables.h"
#include "tools/tables/site_tables.h"
#include "tools/tables/window_table.h"
#include "tools/version.h"

namespace rubato {
namespace {

using json_text::dump;
using json_text::number;
using json_text::wait_key;

Json sizes_to_json(const CallTraffic& traffic) {
  Json sizes = Json::array();
  const SizeHistogram &sent = traffic.sent, &received = traffic.received;
  for (size_t at = 0; at < std::max(sent.size(), received.size()); ++at) {
    const Requests out = sent[at], in = received[at];
    if (out.count + in.count == 0) continue;
    sizes.push_back({{"size", SizeHistogram::least(at)},
                     {"sends", out.count},
                     {"bytes_sent", out.bytes},
                     {"receives", in.count},
                     {"bytes_received", in.bytes}});
  }
  return sizes;
}

/// null if the scenario has no wait states.
Json waits_to_json(const std::array<double, kWaitKinds>& waits, bool has_waits) {
  if (!has_waits) return nullptr;
  Json json = Json::object();
  for (int kind = 0; kind < kWaitKinds; ++kind) json[wait_key(kind)] = number(waits[kind]);
  return json;
}

/// `shown`: CallFigure::rank or ::sum.
Json figures_to_json(const CallSum& sum, CallFigure::Shown CallFigure::*shown, bool has_waits) {
  Json json = Json::object();
  for (const CallFigure& figure : call_figures()) {
    if (figure.*shown == CallFigure::kNo) continue;
    if (figure.by_kind) {
      json[figure.key] = waits_to_json(sum.waits, has_waits);
      continue;
    }
    const CallFigure::Value value = figure.value(sum);
    if (figure.*shown == CallFigure::kIfAny && number_of(value) == 0) continue;
    const bool is_known =
        (!figure.of_waits || has_waits) && (figure.as != As::kRate || number_of(value) > 0);
    const auto* const count = std::get_if<uint64_t>(&value);
    json[figure.key] = !is_known ? Json(nullptr) : count ? Json(*count) : number(number_of(value));
  }
  return json;
}

Json call_to_json(const CallRow& row, bool has_waits) {
  Json json = figures_to_json(sum_of(row), &CallFigure::rank, has_waits);
  json["sizes"] = sizes_to_json(row.traffic);
  return json;
}

Json rank_to_json(const ScenarioProfile& profile, size_t at) {
  const RankProfile& rank = profile.ranks[at];
  const RankResult& result = profile.result->ranks[at];
  Json json = {{"rank", at},
               {"compute", number(rank.compute)},
               {"overhead", number(rank.overhead)},
               {"mpi", number(result.mpi)},
               {"own_work", number(result.own_work)}};
  for (const OtherRow& other : kOtherRows) json[other.key] = number(result.*other.seconds);
  json["threads"] = result.threads;
  json["calls"] = Json::object();
  for (size_t call = 0; call < rank.calls.size(); ++call) {
    if (rank.calls[call].calls > 0)
      json["calls"][(*profile.calls)[call]] =
          call_to_json(rank.calls[call], profile.result->has_waits);
  }
  json["peers"] = Json::array();
  for (const PeerTraffic& entry : rank.peers) {
    json["peers"].push_back({{"peer", entry.peer},
                             {"size", entry.sent.bytes},
                             {"requests", entry.sent.count},
                             {"time", number(entry.time)}});
  }
  return json;
}

Json sums_to_json(const ScenarioProfile& profile) {
  Json calls = Json::object();
  const std::vector<CallSum> sums = sums_of(profile);
  for (size_t call = 0; call < sums.size(); ++call) {
    const CallSum& sum = sums[call];
    if (sum.calls == 0) continue;
    calls[(*profile.calls)[call]] =
        figures_to_json(sum, &CallFigure::sum, profile.result->has_waits);
  }
  return calls;
}

Json nodes_to_json(const ScenarioProfile& profile) {
  Json nodes = Json::array();
  for (const NodeTraffic& node : profile.nodes) {
    nodes.push_back({{"node", node.name},
                     {"ranks", node.ranks},
                     {"receives", node.received.count},
                     {"bytes_received", node.received.bytes},
                     {"sends", node.sent.count},
                     {"bytes_sent", node.sent.bytes}});
  }
  return nodes;
}

}  // namespace

void profile_json_head(const TextSink& write) {
  const Json head = {{"format", kJsonFormat}, {"rubato", kVersion}};
  std::string text = dump(head, -1);
  text.pop_back();
  write(text + ",\n \"scenarios\": [");
}

void profile_json_scenario(const ScenarioResult& scenario, const ScenarioProfile* profile,
                           bool is_first, const TextSink& write) {
  Json head = {
      {"name", scenario.name},
      {"elapsed", profile ? number(scenario.elapsed) : Json(nullptr)},
      {"deadlock", profile ? Json(nullptr) : Json(scenario.deadlock)},
      {"calls", profile ? sums_to_json(*profile) : Json::object()},
      {"nodes", profile ? nodes_to_json(*profile) : Json::array()},
      {"causes", profile && profile->causes ? causes_to_json(*profile->causes) : Json(nullptr)},
      {"places", profile && profile->places ? places_to_json(*profile->places) : Json(nullptr)},
      {"functions",
       profile && profile->places ? functions_to_json(*profile->places) : Json::array()},
      {"over_time", profile ? over_time_json(profile->over_time) : Json::array()},
      {"call_sites", profile ? site_table(profile->sites).json() : Json::array()},
      {"samples", profile ? sampled_table(profile->samples).json() : Json::array()}};
  std::string text = dump(head, -1);
  text.pop_back();
  write((is_first ? "\n  " : ",\n  ") + text + ", \"ranks\": [");
  for (size_t at = 0; profile && at < profile->ranks.size(); ++at)
    write((at == 0 ? "\n   " : ",\n   ") + dump(rank_to_json(*profile, at), -1));
  write("]}");
}

void profile_json_end(const TraceSummary& trace, const Json& findings, const Json& counters,
                      const Json& networks, const TextSink& write) {
  write("],\n \"findings\": " + dump(findings, -1) + ",\n \"counters\": " + dump(counters, -1) +
        (networks.is_null() ? "" : ",\n \"networks\": " + dump(networks, -1)) +
        ",\n \"trace\": " + dump(trace_to_json(trace), -1) + "}\n");
}

}  // namespace rubato
