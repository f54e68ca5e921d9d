// The files of `rubato diff --json` and `--csv`: share/doc/json.md.

#include <fmt/format.h>

#include "tools/format/csv_text.h"
#include "tools/format/json_text.h"
#include "tools/report/report_json.h"
#include "tools/studies/diff_report.h"

namespace rubato {
namespace {

Json pair_json(const TimePair& pair) {
  Json json = {{"old", pair.before},
               {"new", pair.after},
               {"gap", pair.gap()},
               {"old_calls", pair.before_calls},
               {"new_calls", pair.after_calls}};
  if (pair.before_error > 0) json["old_error"] = pair.before_error;
  if (pair.after_error > 0) json["new_error"] = pair.after_error;
  return json;
}

Json operation_json(const OperationPlace& place) {
  if (place.event == 0) return nullptr;
  return {{"event", place.event}, {"operation", place.what}};
}

Json divergence_json(const Divergence& divergence) {
  return {{"rank", divergence.rank},
          {"thread", divergence.thread},
          {"time", divergence.time},
          {"old", operation_json(divergence.before)},
          {"new", operation_json(divergence.after)}};
}

Json side_json(const DiffSide& side, double elapsed) {
  Json json = {{"kind", side.is_prediction ? "prediction" : "recording"},
               {"scenario", side.scenario},
               {"elapsed", elapsed},
               {"shown", side.runs[side.shown].archive}};
  for (const DiffRun& run : side.runs) {
    json["runs"].push_back({{"archive", run.archive},
                            {"elapsed", run.time.elapsed},
                            {"recorded", run.recorded},
                            {"lost_share", run.lost_share}});
  }
  return json;
}

Json gate_json(const DiffResults& results) {
  if (!results.limit) return nullptr;
  const GateResult result = gate_result(results.slowdown, *results.limit);
  return {{"limit", *results.limit},
          {"result", result == GateResult::kPassed   ? "passed"
                     : result == GateResult::kFailed ? "failed"
                                                     : "undecided"}};
}

Json rank_json(int rank) {
  return rank < 0 ? Json(nullptr) : Json(rank);
}

Json summary_json(const DiffSummary& s) {
  const auto messages = [](const MessageSum& sum) {
    return Json{{"count", sum.count}, {"bytes", sum.bytes}};
  };
  return {
      {"compute",
       {{"mean", s.compute},
        {"rank", rank_json(s.compute_rank)},
        {"on_rank", s.on_rank},
        {"function", json_text::text_or_null(s.function)},
        {"in_function", s.in_function},
        {"with_callees", s.with_callees},
        {"caller", json_text::text_or_null(s.caller)}}},
      {"mpi",
       {{"mean", s.mpi},
        {"call", json_text::text_or_null(s.call)},
        {"site", json_text::text_or_null(s.site)},
        {"in_call", s.in_call},
        {"waiting", s.waiting},
        {"for_rank", rank_json(s.waited_rank)}}},
      {"messages", {{"old", messages(s.messages_before)}, {"new", messages(s.messages_after)}}}};
}

template <typename Pairs>
Json pairs_json(const Pairs& pairs) {
  Json object = Json::object();
  for (const auto& [name, pair] : pairs) object[name] = pair_json(pair);
  return object;
}

void add_tables(Json& json, const RunDifference& d) {
  json["by_call"] = pairs_json(d.by_call);
  json["by_level"] = Json::object();
  for (uint8_t level = 0; level <= kLevels; ++level) {
    const TimePair& pair = d.by_level[level];
    if (pair.before_calls + pair.after_calls > 0)
      json["by_level"][level_name(level)] = pair_json(pair);
  }
  json["by_size"] = Json::array();
  for (const auto& [key, pair] : d.by_size) {
    const auto& [call, level, bytes] = key;
    Json row = {{"call", call}, {"level", level_name(level)}, {"bytes", bytes}};
    row.update(pair_json(pair));
    json["by_size"].push_back(std::move(row));
  }
  json["by_function"] = pairs_json(d.by_function);
  json["by_rank"] = Json::array();
  for (size_t rank = 0; rank < d.by_rank.size(); ++rank) {
    json["by_rank"].push_back({{"rank", rank},
                               {"old", d.by_rank[rank].before},
                               {"new", d.by_rank[rank].after},
                               {"gap", d.by_rank[rank].gap()}});
  }
  json["largest"] = Json::array();
  for (const OperationGap& each : d.largest) {
    Json row = divergence_json(each);
    row["old_seconds"] = each.before_seconds;
    row["new_seconds"] = each.after_seconds;
    row["gap"] = each.gap();
    json["largest"].push_back(std::move(row));
  }
}

}  // namespace

std::string diff_json(const DiffResults& results) {
  const RunDifference& d = results.difference;
  const Slowdown& s = results.slowdown;
  Json json = {{"old", side_json(results.before, s.before)},
               {"new", side_json(results.after, s.after)},
               {"gap", s.after - s.before},
               {"slowdown",
                {{"share", s.share},
                 {"low", s.low()},
                 {"high", s.high()},
                 {"spread", s.repeated ? Json(s.spread) : Json(nullptr)},
                 {"beyond_noise", s.is_certain()}}},
               {"gate", gate_json(results)},
               {"summary", summary_json(results.summary)},
               {"operations",
                {{"same", d.same},
                 {"different", d.different},
                 {"only_old", d.only_before},
                 {"only_new", d.only_after}}}};
  json["first_difference"] = nullptr;
  if (d.first_difference) json["first_difference"] = divergence_json(*d.first_difference);
  json["threshold"] = results.threshold;
  json["first_drift"] = nullptr;
  if (d.first_drift) {
    json["first_drift"] = divergence_json(*d.first_drift);
    json["first_drift"]["drift"] = d.first_drift->drift;
    json["first_drift"]["inside"] = d.first_drift->inside;
    json["first_drift"]["outside"] = d.first_drift->outside;
  }
  add_tables(json, d);
  return json_file(json);
}

std::string diff_csv(const DiffResults& results) {
  const RunDifference& d = results.difference;
  std::string text = "kind,name,old_s,new_s,gap_s,old_calls,new_calls\n";
  const auto add = [&](const char* kind, const std::string& name, const TimePair& pair) {
    text += fmt::format("{},{},{},{},{},{},{}\n", kind, csv_text(name), pair.before, pair.after,
                        pair.gap(), pair.before_calls, pair.after_calls);
  };
  for (const DiffSide* side : {&results.before, &results.after}) {
    const bool is_new = side == &results.after;
    for (const DiffRun& run : side->runs) {
      const double elapsed = run.time.elapsed;
      text +=
          fmt::format("{},{},{},{},,,\n", is_new ? "new_run" : "old_run", csv_text(run.archive),
                      is_new ? "" : fmt::to_string(elapsed), is_new ? fmt::to_string(elapsed) : "");
    }
  }
  add("elapsed", "", {results.slowdown.before, results.slowdown.after});
  for (const auto& [name, pair] : d.by_call) add("call", name, pair);
  for (const auto& [name, pair] : d.by_function) add("function", name, pair);
  for (size_t rank = 0; rank < d.by_rank.size(); ++rank)
    add("rank", std::to_string(rank), d.by_rank[rank]);
  return text;
}

}  // namespace rubato
