#include "tools/report/report_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "replay/analyse/other_rows.h"
#include "tools/format/csv_text.h"
#include "tools/format/json_text.h"
#include "tools/report/interval_report.h"
#include "tools/report/job_report.h"
#include "tools/report/link_report.h"
#include "tools/report/sweep_report.h"
#include "tools/version.h"
#include "tools/words/note_words.h"

namespace rubato {
namespace {

using json_text::dump;
using json_text::number;
using json_text::text_or_null;
using json_text::wait_key;

Json waits_to_json(const RankResult& rank) {
  Json waits = Json::object();
  for (int kind = 0; kind < kWaitKinds; ++kind) waits[wait_key(kind)] = number(rank.waits[kind]);
  return waits;
}

Json rank_to_json(int number_of_rank, const RankResult& rank, bool has_waits,
                  const std::vector<std::string>& names) {
  Json calls = Json::object();
  for (size_t call = 0; call < rank.calls.size(); ++call) {
    const CallTotals& totals = rank.calls[call];
    if (totals.calls == 0) continue;
    calls[names[call]] = {{"time", number(totals.time)},
                          {"own_work", number(totals.own_work)},
                          {"calls", totals.calls},
                          {"bytes_sent", totals.bytes_sent},
                          {"bytes_received", totals.bytes_received}};
  }
  Json row = {{"rank", number_of_rank},           {"start", number(rank.start)},
              {"end", number(rank.end)},          {"elapsed", number(rank.end - rank.start)},
              {"compute", number(rank.compute)},  {"mpi", number(rank.mpi)},
              {"own_work", number(rank.own_work)}};
  for (const OtherRow& other : kOtherRows) row[other.key] = number(rank.*other.seconds);
  row["threads"] = rank.threads;
  row["waits"] = has_waits ? waits_to_json(rank) : Json(nullptr);
  row["calls"] = std::move(calls);
  return row;
}

Json scenario_to_json(const ScenarioResult& scenario, const std::vector<std::string>& names) {
  const bool ended = scenario.deadlock.empty();
  const std::optional<DegradationFit>& fit = scenario.degradation_fit;
  Json traffic = Json::object();
  for (int level = 0; level < kLevels; ++level) {
    traffic[kLevelNames[level]] = {{"messages", scenario.traffic[level].messages},
                                   {"bytes", scenario.traffic[level].bytes}};
  }
  Json collectives = Json::array();
  for (const CollectiveUse& use : scenario.collectives) {
    collectives.push_back({{"operation", use.operation},
                           {"members", use.members},
                           {"algorithm", use.algorithm},
                           {"guessed", use.guessed},
                           {"smallest", number(use.smallest)},
                           {"largest", number(use.largest)}});
  }
  Json ranks = Json::array();
  for (size_t rank = 0; ended && rank < scenario.ranks.size(); ++rank) {
    ranks.push_back(
        rank_to_json(static_cast<int>(rank), scenario.ranks[rank], scenario.has_waits, names));
  }
  Json json = {{"name", scenario.name},
               {"base", scenario.base},
               {"changes", scenario.changes},
               {"elapsed", ended ? number(scenario.elapsed) : Json(nullptr)},
               {"elapsed_with_init", ended ? number(scenario.elapsed_with_init) : Json(nullptr)},
               {"deadlock", text_or_null(scenario.deadlock)},
               {"traffic", std::move(traffic)},
               {"collectives", std::move(collectives)},
               {"contradicted_outcomes", scenario.contradicted_outcomes},
               {"contradicted_time", number(scenario.contradicted_time)},
               {"wildcard_receives", scenario.wildcard_receives},
               {"rematched_receives", scenario.rematched_receives},
               {"network_unused", scenario.network_unused},
               {"own_machine", scenario.own_machine},
               {"degradation_ratio", fit && fit->ratio ? number(*fit->ratio) : Json(nullptr)},
               {"clipped_overheads", scenario.clipped_overheads},
               {"clipped_time", number(scenario.clipped_time)},
               {"warnings", warnings_about(scenario)}};
  if (scenario.links) json["links"] = links_to_json(scenario);
  if (scenario.contention) json["contention"] = contention_to_json(names, scenario);
  if (!scenario.jobs.empty()) json["jobs"] = jobs_to_json(scenario);
  json["ranks"] = std::move(ranks);
  return json;
}

/// null without efficiency factors.
Json efficiency_to_json(const std::optional<Efficiency>& e) {
  if (!e) return nullptr;
  return {{"parallel", number(e->parallel())}, {"load_balance", number(e->load_balance)},
          {"own_work", number(e->own_work)},   {"serialisation", number(e->serialisation)},
          {"transfer", number(e->transfer)},   {"busiest", e->busiest}};
}

/// null if nothing was repaired.
Json repair_to_json(const TraceSummary& trace) {
  if (!trace.clock_repair) return nullptr;
  const ClockRepair& repair = *trace.clock_repair;
  return {{"messages_before", trace.clock_violations.messages},
          {"collectives_before", trace.clock_violations.collectives},
          {"messages_after", repair.after.messages},
          {"collectives_after", repair.after.collectives},
          {"first_after", text_or_null(repair.after.first)},
          {"largest_shift", number(repair.largest_shift)},
          {"ranks", repair.ranks}};
}

Json eager_to_json(const EagerLimit& limit) {
  return {{"bytes", limit.bytes ? number(*limit.bytes) : Json(nullptr)},
          {"from", kEagerLimitFrom[static_cast<size_t>(limit.from)]}};
}

}  // namespace

std::string json_file(const Json& results) {
  Json json = {{"format", kJsonFormat}, {"rubato", kVersion}};
  json.update(results);
  return dump(json, 1) + "\n";
}

Json kernels_to_json(const KernelSums& kernels) {
  if (kernels.streams == 0) return nullptr;
  Json by_name = Json::array();
  for (const KernelSums::Kernel& each : kernels.by_name)
    by_name.push_back({{"name", each.name}, {"count", each.count}, {"time", number(each.time)}});
  return {{"streams", kernels.streams},
          {"count", kernels.count},
          {"time", number(kernels.time)},
          {"by_name", std::move(by_name)}};
}

Json trace_to_json(const TraceSummary& trace) {
  Json kept = Json::array();
  for (const KeptCall& call : trace.kept) {
    kept.push_back({{"call", call.call},
                    {"count", call.count},
                    {"time", number(call.time)},
                    {"first_at", call.first_at}});
  }
  return {{"path", trace.path},
          {"creator", trace.creator},
          {"command", trace.command},
          {"mpi_library", trace.mpi_library},
          {"ranks", trace.ranks},
          {"locations", trace.locations},
          {"nodes", trace.nodes},
          {"communicators", trace.communicators},
          {"records", trace.records},
          {"mpi_calls", trace.mpi_calls},
          {"messages", trace.messages},
          {"collectives", trace.collectives},
          {"elapsed", number(trace.elapsed)},
          {"mpi_time", number(trace.mpi_time)},
          {"shared_cores", trace.shared_cores},
          {"unwatched", trace.unwatched},
          {"kept", std::move(kept)},
          {"spinning_calls", trace.spinning_calls},
          {"spinning_time", number(trace.spinning_time)},
          {"unmatched_sends", trace.unmatched_sends},
          {"unmatched_receives", trace.unmatched_receives},
          {"unmatched_send", trace.unmatched_send},
          {"unmatched_receive", trace.unmatched_receive},
          {"clock_violations", trace.clock_violations.total()},
          {"one_clock", trace.one_clock},
          {"clock_repair", repair_to_json(trace)},
          {"eager_limit",
           {{"node", eager_to_json(trace.eager.node)},
            {"network", eager_to_json(trace.eager.network)}}},
          {"warnings", warnings_about(trace)}};
}

std::string report_json(const Report& report) {
  const Results& results = *report.results;
  Json json = {{"trace", trace_to_json(results.trace)},
               {"verdict", report.verdict},
               {"findings", findings_to_json(report.judgement, results)},
               {"calls", results.calls},
               {"scenarios", Json::array()}};
  for (size_t i = 0; i < results.scenarios.size(); ++i) {
    Json scenario = scenario_to_json(results.scenarios[i], results.calls);
    scenario["efficiency"] = efficiency_to_json(report.efficiencies[i]);
    scenario["interval"] = nullptr;
    if (const ElapsedInterval* interval = interval_of(report.intervals, i))
      scenario["interval"] = {{"low", number(interval->low)}, {"high", number(interval->high)}};
    scenario["ratio"] = nullptr;
    if (const auto half = half_of_ratio(report.roles, report.intervals, i)) {
      const double ratio = results.scenarios[i].elapsed / report.roles.reference->elapsed;
      scenario["ratio"] = {{"value", number(ratio)},
                           {"low", number(ratio * std::exp(-*half))},
                           {"high", number(ratio * std::exp(*half))}};
    }
    json["scenarios"].push_back(std::move(scenario));
  }
  if (!report.sweeps.empty()) json["sweeps"] = sweeps_to_json(report.sweeps);
  json["model_errors"] = Json::array();
  for (const ModelError& each : model_errors(Roles(results))) {
    json["model_errors"].push_back({{"part", each.part},
                                    {"recorded", number(each.recorded)},
                                    {"predicted", number(each.predicted)}});
  }
  json["identity"] = nullptr;
  if (results.identity) {
    json["identity"] = {{"records", results.identity->records},
                        {"differing", results.identity->differing},
                        {"worst_ticks", number(results.identity->worst_ticks)},
                        {"first", results.identity->first}};
  }
  return json_file(json);
}

std::string info_json(const TraceSummary& trace) {
  return json_file({{"trace", trace_to_json(trace)}, {"kernels", kernels_to_json(trace.kernels)}});
}

std::string report_csv(const Report& report) {
  const Results& results = *report.results;
  std::string out = "scenario,rank,kind,name,calls,time_s,bytes_sent,bytes_received\n";
  for (const ScenarioResult& scenario : results.scenarios) {
    if (!scenario.deadlock.empty()) continue;
    const std::string name = csv_text(scenario.name);
    for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
      const RankResult& result = scenario.ranks[rank];
      const auto row = [&](const char* kind, const std::string& what, double seconds) {
        out += fmt::format("{},{},{},{},,{},,\n", name, rank, kind, what, seconds);
      };
      row("compute", "compute", result.compute);
      for (const OtherRow& other : kOtherRows) {
        if (result.*other.seconds != 0) row("other", other.key, result.*other.seconds);
      }
      for (int kind = 0; scenario.has_waits && kind < kWaitKinds; ++kind)
        row("wait", wait_key(kind), result.waits[kind]);
      for (size_t call = 0; call < result.calls.size(); ++call) {
        const double own = result.calls[call].own_work;
        if (own > 0) row("own_work", csv_text(results.calls[call]), own);
      }
      for (size_t call = 0; call < result.calls.size(); ++call) {
        const CallTotals& totals = result.calls[call];
        if (totals.calls == 0) continue;
        out += fmt::format("{},{},{},{},{},{},{},{}\n", name, rank,
                           outside_elapsed(results.calls[call]) ? "outside" : "mpi",
                           csv_text(results.calls[call]), totals.calls, totals.time,
                           totals.bytes_sent, totals.bytes_received);
      }
    }
  }
  out += sweep_csv(report.sweeps);
  return out;
}

}  // namespace rubato
