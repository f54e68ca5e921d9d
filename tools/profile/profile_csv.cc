#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "replay/analyse/other_rows.h"
#include "tools/format/csv_text.h"
#include "tools/format/json_text.h"
#include "tools/profile/profile_report.h"
#include "tools/tables/call_figures.h"
#include "tools/tables/cause_tables.h"
#include "tools/tables/place_tables.h"
#include "tools/tables/profile_tables.h"
#include "tools/tables/site_tables.h"

namespace rubato {
namespace {

/// Rows of one scenario.
class Rows {
 public:
  Rows(const std::string& scenario, const TextSink& write)
      : scenario_(csv_text(scenario)), write_(&write) {}
  ~Rows() { flush(0); }

  /// Adds a value; "" for columns that do not apply.
  template <typename Number>
  void add(const char* kind, const std::string& name, const std::string& rank, Number value,
           const std::string& peer = "", const std::string& size = "") {
    fmt::format_to(std::back_inserter(text_), "{},{},{},{},{},{},{}\n", scenario_, kind, name, rank,
                   peer, size, value);
    flush(1 << 16);
  }

 private:
  void flush(size_t limit) {
    if (text_.size() <= limit) return;
    (*write_)(text_);
    text_.clear();
  }

  std::string scenario_;
  const TextSink* write_;
  std::string text_;
};

void add_sizes(Rows& rows, const char* count_kind, const char* bytes_kind, const std::string& name,
               const std::string& rank, const SizeHistogram& histogram) {
  for (size_t at = 0; at < histogram.size(); ++at) {
    const Requests each = histogram[at];
    if (each.count == 0) continue;
    const std::string size = std::to_string(SizeHistogram::least(at));
    rows.add(count_kind, name, rank, each.count, "", size);
    rows.add(bytes_kind, name, rank, each.bytes, "", size);
  }
}

/// The figures of a call that are of these kinds.
void add_figures(Rows& rows, const std::string& name, const std::string& rank, const CallSum& sum,
                 std::initializer_list<As> kinds) {
  for (const CallFigure& figure : call_figures()) {
    const CallFigure::Value value = figure.value(sum);
    if (figure.csv == CallFigure::kNo || std::ranges::find(kinds, figure.as) == kinds.end() ||
        (figure.csv == CallFigure::kIfAny && number_of(value) == 0))
      continue;
    std::visit([&](auto number) { rows.add(figure.key, name, rank, number); }, value);
  }
}

void add_calls(Rows& rows, const ScenarioProfile& profile, size_t number) {
  const std::string rank = std::to_string(number);
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    const CallRow& row = profile.ranks[number].calls[call];
    if (row.calls == 0) continue;
    const std::string name = csv_text((*profile.calls)[call]);
    const CallSum sum = sum_of(row);
    add_figures(rows, name, rank, sum, {As::kSeconds, As::kShare});
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      if (sum.waits[kind] != 0)
        rows.add(json_text::wait_key(kind).c_str(), name, rank, sum.waits[kind]);
    }
    add_figures(rows, name, rank, sum, {As::kCount});
    add_sizes(rows, "sends", "bytes_sent", name, rank, row.traffic.sent);
    add_sizes(rows, "receives", "bytes_received", name, rank, row.traffic.received);
    add_figures(rows, name, rank, sum, {As::kBytes, As::kRate});
  }
}

/// Where they are not 0.
void add_by_rank(Rows& rows, const char* kind, const std::string& name,
                 const std::vector<double>& values) {
  for (size_t rank = 0; rank < values.size(); ++rank) {
    if (values[rank] != 0) rows.add(kind, name, std::to_string(rank), values[rank]);
  }
}

void add_peers(Rows& rows, const RankProfile& profile, const std::string& rank) {
  for (const PeerTraffic& entry : profile.peers) {
    const std::string peer = std::to_string(entry.peer);
    if (entry.time != 0) rows.add("matrix_time", "", rank, entry.time, peer);
    if (entry.sent.count == 0) continue;
    rows.add("matrix_size", "", rank, entry.sent.bytes, peer);
    rows.add("matrix_request", "", rank, entry.sent.count, peer);
  }
}

void add_causes(Rows& rows, const CauseSummary& causes) {
  for (const CauseSummary::Wait& wait : causes.waits) {
    rows.add(("pattern_" + pattern_key(wait.pattern)).c_str(), csv_text(wait.call),
             std::to_string(wait.rank), wait.seconds);
  }
  for (const CauseSummary::Pair& pair : causes.direct)
    rows.add("caused", "", std::to_string(pair.waiting), pair.seconds,
             std::to_string(pair.causing));
  for (size_t rank = 0; rank < causes.roots.size(); ++rank) {
    if (causes.roots[rank] != 0) rows.add("root", "", std::to_string(rank), causes.roots[rank]);
    if (causes.compute[rank] != 0)
      rows.add("path", "compute", std::to_string(rank), causes.compute[rank]);
  }
  if (causes.late_start != 0) rows.add("path", "late_start", "", causes.late_start);
  for (const auto& [call, seconds] : causes.calls) rows.add("path", csv_text(call), "", seconds);
  for (const auto& [call, seconds] : causes.crossings)
    rows.add("path", csv_text("crossing " + call), "", seconds);
}

void add_places(Rows& rows, const PlaceSummary& summary) {
  std::map<std::pair<std::string, int>, double> waits, comms, roots, pairs;
  for (const PlaceSummary::Wait& wait : summary.waits) {
    waits[{place_text(summary.places[wait.place]), wait.rank}] += wait.seconds;
    comms[{wait.communicator, wait.rank}] += wait.seconds;
  }
  for (const PlaceSummary::Delay& delay : summary.delays) {
    const NamedPlace &cause = summary.places[delay.place], &wait = summary.places[delay.waiting];
    roots[{place_text(cause), delay.rank}] += delay.seconds;
    pairs[{path_text(cause) + " | " + path_text(wait), delay.rank}] += delay.seconds;
  }
  const auto add = [&](const char* kind, const auto& sums) {
    for (const auto& [key, seconds] : sums)
      rows.add(kind, csv_text(key.first), std::to_string(key.second), seconds);
  };
  add("place_wait", waits);
  add("communicator_wait", comms);
  add("place_root", roots);
  add("path_root", pairs);
  for (const FunctionEfficiency& function : summary.functions) {
    const std::string name = csv_text(function_text(function));
    add_by_rank(rows, "function_compute", name, function.compute);
    add_by_rank(rows, "function_inclusive", name, function.inclusive);
    add_by_rank(rows, "function_mpi", name, function.mpi);
    add_by_rank(rows, "function_wait", name, function.waits);
  }
}

/// The name of a row is the begin of its window.
void add_over_time(Rows& rows, const EfficienciesOverTime& over_time) {
  for (const WindowEfficiency& window : over_time.fine) {
    const std::string begin = fmt::to_string(window.begin);
    rows.add("over_time_load_balance", begin, "", window.load_balance);
    rows.add("over_time_serialisation", begin, "", window.serialisation);
    rows.add("over_time_transfer", begin, "", window.transfer);
  }
}

/// A row of a call site is named by its call and its path.
void add_sites(Rows& rows, const ScenarioProfile& profile) {
  for (const SiteRow& row : profile.sites) {
    const std::string name = csv_text(site_name(row));
    rows.add("site_calls", name, "", row.count);
    rows.add("site_time", name, "", row.time);
    rows.add("site_time_min", name, "", row.least);
    rows.add("site_time_max", name, "", row.most);
    if (row.rank_least) rows.add("site_rank_time_min", name, "", *row.rank_least);
    if (row.rank_most) rows.add("site_rank_time_max", name, "", *row.rank_most);
    rows.add("site_wait", name, "", row.waits);
    rows.add("site_bytes", name, "", row.bytes);
    rows.add("site_messages", name, "", row.messages);
  }
  for (const SampledFunction& row : profile.samples) {
    const std::string name = csv_text(row.place);
    add_by_rank(rows, "sample_exclusive", name, row.exclusive);
    add_by_rank(rows, "sample_inclusive", name, row.inclusive);
  }
}

}  // namespace

std::string elapsed_csv(const std::string& scenario, double elapsed) {
  return fmt::format("{},elapsed,,,,,{}\n", csv_text(scenario), elapsed);
}

void profile_csv(const ScenarioProfile& profile, const TextSink& write) {
  Rows rows(profile.result->name, write);
  rows.add("elapsed", "", "", profile.result->elapsed);
  for (size_t number = 0; number < profile.ranks.size(); ++number) {
    const RankProfile& row = profile.ranks[number];
    const RankResult& result = profile.result->ranks[number];
    const std::string rank = std::to_string(number);
    rows.add("time", "compute", rank, row.compute);
    rows.add("time", "overhead", rank, row.overhead);
    for (const OtherRow& other : kOtherRows) {
      if (result.*other.seconds != 0) rows.add("time", other.key, rank, result.*other.seconds);
    }
    add_calls(rows, profile, number);
    add_peers(rows, row, rank);
  }
  if (profile.causes) add_causes(rows, *profile.causes);
  if (profile.places) add_places(rows, *profile.places);
  add_over_time(rows, profile.over_time);
  add_sites(rows, profile);
  for (const NodeTraffic& node : profile.nodes) {
    const std::string name = csv_text(node.name);
    rows.add("node_bytes_received", name, "", node.received.bytes);
    rows.add("node_receives", name, "", node.received.count);
    rows.add("node_bytes_sent", name, "", node.sent.bytes);
    rows.add("node_sends", name, "", node.sent.count);
  }
}

}  // namespace rubato
