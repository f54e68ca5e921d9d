#include "tools/report/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "replay/analyse/other_rows.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/report/interval_report.h"
#include "tools/report/job_report.h"
#include "tools/report/link_report.h"
#include "tools/report/sweep_report.h"
#include "tools/tables/call_columns.h"
#include "tools/words/note_words.h"

namespace rubato {
namespace {

constexpr size_t kCallsShown = 5;  ///< number of calls with a column of their own, without --all
constexpr size_t kKernelsShown = 5;

std::string plural(uint64_t count, const std::string& word) {
  return counted(count, word, word + "s");
}

Table longest_kernels(std::vector<KernelSums::Kernel> kernels) {
  if (kernels.size() > kKernelsShown + 1) {
    KernelSums::Kernel& others = kernels[kKernelsShown];
    others.name = fmt::format("{} others", kernels.size() - kKernelsShown);
    for (size_t i = kKernelsShown + 1; i < kernels.size(); ++i)
      others.count += kernels[i].count, others.time += kernels[i].time;
    kernels.resize(kKernelsShown + 1);
  }
  Table table;
  for (const KernelSums::Kernel& each : kernels) {
    table.add({{"Kernel", each.name},
               {"Runs", each.count, As::kCount},
               {"Time", each.time, As::kSeconds}});
  }
  return table;
}

std::string trace_line(const TraceSummary& trace) {
  return fmt::format("{}: {}{} on {}, recorded by {}", trace.path,
                     trace.command.empty() ? "" : "'" + trace.command + "', ",
                     plural(trace.ranks, "rank"), plural(trace.nodes, "node"),
                     trace.creator.empty() ? "an unnamed tracer" : trace.creator);
}

std::string show_traffic(const LevelTraffic& traffic) {
  return traffic.messages == 0
             ? "-"
             : fmt::format("{}, {}", show_count(traffic.messages), show_bytes(traffic.bytes));
}

/// Capitalises the first letter, for column headings.
std::string heading(std::string words) {
  words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

/// True if all scenarios that do not deadlock have the same traffic on each level (the same
/// placement).
bool same_traffic(const std::vector<ScenarioResult>& scenarios) {
  const ScenarioResult* first = nullptr;
  for (const ScenarioResult& s : scenarios) {
    if (!s.deadlock.empty()) continue;
    if (!first) first = &s;
    for (int level = 0; level < kLevels; ++level) {
      if (s.traffic[level].messages != first->traffic[level].messages ||
          s.traffic[level].bytes != first->traffic[level].bytes) {
        return false;
      }
    }
  }
  return first != nullptr;
}

/// "Messages: node 1,250, 78.1 MiB; network ..." for scenarios with the same traffic.
std::string traffic_line(const std::vector<ScenarioResult>& scenarios) {
  std::string line;
  for (const ScenarioResult& s : scenarios) {
    if (!s.deadlock.empty()) continue;
    for (int level = 0; level < kLevels; ++level) {
      if (s.traffic[level].messages == 0) continue;
      line += fmt::format("{}{} {}", line.empty() ? "Messages by distance: " : "; ",
                          kLevelNames[level], show_traffic(s.traffic[level]));
    }
    break;
  }
  return line.empty() ? "No messages between two ranks." : line + ".";
}

/// Levels with traffic in some scenario.
std::vector<int> levels_in_use(const std::vector<ScenarioResult>& scenarios) {
  std::vector<int> levels;
  for (int level = 0; level < kLevels; ++level) {
    const bool used = std::any_of(scenarios.begin(), scenarios.end(), [&](const auto& scenario) {
      return scenario.traffic[level].messages > 0;
    });
    if (used) levels.push_back(level);
  }
  return levels;
}

std::string scenario_table(const Report& report, int width) {
  const std::vector<ScenarioResult>& scenarios = report.results->scenarios;
  const Intervals& intervals = report.intervals;
  const ScenarioResult* reference = report.roles.reference;
  const bool can_compare = reference->deadlock.empty() && reference->elapsed > 0;
  const bool one_line = same_traffic(scenarios);
  const std::vector<int> levels = one_line ? std::vector<int>{} : levels_in_use(scenarios);

  std::vector<double> times;
  for (const ScenarioResult& s : scenarios) {
    if (s.deadlock.empty()) times.push_back(s.elapsed);
  }
  const TimeUnit unit = common_unit(times);

  std::vector<OtherRow> parts = {{"Compute", "", &RankResult::compute},
                                 {"MPI", "", &RankResult::mpi}};
  for (int i = 0; i < kOtherRowsInWindow; ++i) {
    const bool any = std::any_of(scenarios.begin(), scenarios.end(), [&](const auto& scenario) {
      return mean(scenario.ranks, kOtherRows[i].seconds) > 0;
    });
    if (any) parts.push_back(kOtherRows[i]);
  }
  Table table;
  for (const ScenarioResult& s : scenarios) {
    const bool ended = s.deadlock.empty();
    const auto number = static_cast<size_t>(&s - scenarios.data());
    std::string around = show_interval(intervals, number, unit);
    // Platforms from data sheets are no more accurate than calibrations, but their accuracy is
    // unknown.
    if (around.empty() && !intervals.empty() && !s.from_recording) around = " ±?";
    std::string ratio = "-";
    if (ended && can_compare) ratio = fmt::format("{:.3f}×", s.elapsed / reference->elapsed);
    const auto half = half_of_ratio(report.roles, intervals, number);
    if (half && ratio != "-") ratio += fmt::format(" ±{:.1f} %", 100 * *half);
    std::vector<Cell> row = {{"Scenario", s.name},
                             {fmt::format("Elapsed ({})", unit.name),
                              ended ? unit.show(s.elapsed) + around : "deadlock"},
                             {"vs " + reference->name, ratio}};
    const double window = mean_window(s.ranks);
    for (const OtherRow& part : parts)
      row.push_back({part.name, ended ? show_share(mean(s.ranks, part.seconds), window) : "-"});
    for (const int level : levels)
      row.push_back(
          {fmt::format("Messages: {}", kLevelNames[level]), show_traffic(s.traffic[level])});
    table.add(std::move(row));
  }
  return table.text(width) + (one_line ? "\n" + wrap(traffic_line(scenarios), width, 2) : "");
}

double mean_time(const CallColumn& call, const ScenarioResult& scenario) {
  double all = 0;
  for (const RankResult& rank : scenario.ranks) all += call.time(rank);
  return scenario.ranks.empty() ? 0 : all / static_cast<double>(scenario.ranks.size());
}

/// The categories that are displayed as more than 0 for some rank.
std::vector<OtherRow> other_columns(const std::vector<ScenarioResult>& scenarios,
                                    const TimeUnit& unit) {
  std::vector<OtherRow> chosen;
  for (const OtherRow& other : kOtherRows) {
    const auto shows = [&](const RankResult& rank) {
      return unit.show(std::abs(rank.*other.seconds)) != unit.show(0);
    };
    const bool any = std::any_of(scenarios.begin(), scenarios.end(), [&](const auto& scenario) {
      return scenario.deadlock.empty() &&
             std::any_of(scenario.ranks.begin(), scenario.ranks.end(), shows);
    });
    if (any) chosen.push_back(other);
  }
  return chosen;
}

/// One unit for the tables of all scenarios, chosen for the longest time, with one more digit than
/// that needs, so that small calls are visible.
TimeUnit rank_table_unit(const std::vector<ScenarioResult>& scenarios) {
  double longest = 0;
  for (const ScenarioResult& scenario : scenarios) {
    if (!scenario.deadlock.empty()) continue;
    for (const RankResult& rank : scenario.ranks) {
      longest = std::max({longest, rank.compute, rank.mpi});
    }
  }
  TimeUnit unit = common_unit({longest});
  unit.decimals = std::min(4, unit.decimals + 1);
  return unit;
}

std::string rank_table(const std::vector<OtherRow>& others, const std::vector<CallColumn>& calls,
                       const ScenarioResult& scenario, const TimeUnit& unit, int width) {
  Table table;
  for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
    const RankResult& result = scenario.ranks[rank];
    std::vector<Cell> row = {{"Rank", std::to_string(rank)},
                             {"Compute", unit.show(result.compute)},
                             {"All MPI", unit.show(result.mpi)}};
    for (const OtherRow& other : others)
      row.push_back({other.name, unit.show(result.*other.seconds)});
    for (const CallColumn& call : calls) row.push_back({call.name, unit.show(call.time(result))});
    table.add(std::move(row));
  }
  return wrap(fmt::format("{}: compute and time per MPI call, in {}", scenario.name, unit.name),
              width, 2) +
         "\n" + table.text(width);
}

/// The tables of --all.
std::string rank_tables(const Results& results, int width) {
  std::string out;
  const TimeUnit unit = rank_table_unit(results.scenarios);
  const std::vector<OtherRow> others = other_columns(results.scenarios, unit);
  const std::vector<CallColumn> calls = choose_call_columns(results, SIZE_MAX);
  for (const ScenarioResult& scenario : results.scenarios) {
    if (!scenario.deadlock.empty() || scenario.ranks.empty()) continue;
    out += "\n" + rank_table(others, calls, scenario, unit, width);
  }
  if (!others.empty()) {
    std::string names;
    for (const OtherRow& other : others) names += std::string(", ") + other.name;
    out += "\n" + wrap("Compute, All MPI" + names +
                           " add up to Elapsed, once for each thread of a rank that calls MPI. "
                           "Before and After: parts of the run outside of the rank's window.",
                       width, 0);
  }
  if (std::any_of(results.calls.begin(), results.calls.end(), outside_elapsed))
    out += "\n" + wrap("MPI_Init and MPI_Finalize are not part of Elapsed and All MPI.", width, 0);
  return out;
}

/// Time of the mean rank in the most expensive calls, a row per scenario.
std::string calls_table(const Results& results, int width) {
  std::vector<CallColumn> calls = choose_call_columns(results, kCallsShown);
  std::erase_if(calls, [&](const CallColumn& call) {
    return call.calls.size() == 1 && outside_elapsed(results.calls[call.calls[0]]);
  });
  std::vector<double> times;
  for (const ScenarioResult& scenario : results.scenarios) {
    for (const CallColumn& call : calls) times.push_back(mean_time(call, scenario));
  }
  if (times.empty()) return "";
  const TimeUnit unit = common_unit({*std::max_element(times.begin(), times.end())});
  // Times that would be displayed as 0 in the common unit have a unit of their own.
  const auto cell = [&](double seconds) {
    const bool is_lost = seconds > 0 && unit.show(seconds) == unit.show(0);
    return is_lost ? show_seconds(seconds) : unit.show(seconds);
  };
  Table table;
  for (const ScenarioResult& scenario : results.scenarios) {
    const bool ended = scenario.deadlock.empty();
    std::vector<Cell> row = {{fmt::format("Mean rank ({})", unit.name), scenario.name}};
    for (const CallColumn& call : calls)
      row.push_back({call.name, ended ? cell(mean_time(call, scenario)) : "-"});
    table.add(std::move(row));
  }
  return table.section("", width);
}

/// Share of waiting in MPI time, by kind; "" if not requested.
std::string waits_table(const std::vector<ScenarioResult>& scenarios, int width) {
  std::array<double, kWaitKinds> in_all{};
  double own_in_all = 0;
  bool asked = false;
  for (const ScenarioResult& scenario : scenarios) {
    asked = asked || scenario.has_waits;
    for (const RankResult& rank : scenario.ranks) {
      for (int kind = 0; kind < kWaitKinds; ++kind) in_all[kind] += rank.waits[kind];
      own_in_all += rank.own_work;
    }
  }
  if (!asked) return "";
  if (!(own_in_all > 0) && std::ranges::all_of(in_all, [](double wait) { return !(wait > 0); }))
    return "\nNo rank waits for another one inside MPI.\n";
  Table table;
  for (const ScenarioResult& scenario : scenarios) {
    double mpi = 0, own = 0;
    std::array<double, kWaitKinds> waits{};
    for (const RankResult& rank : scenario.ranks) {
      mpi += rank.mpi;
      own += rank.own_work;
      for (int kind = 0; kind < kWaitKinds; ++kind) waits[kind] += rank.waits[kind];
    }
    const bool ended = scenario.deadlock.empty();
    const bool known = scenario.has_waits && ended;
    const auto share = [&](double part, bool is_known) {
      return is_known ? show_share(part, mpi) : "-";
    };
    std::vector<Cell> row = {{"Time in MPI", scenario.name}};
    double left = mpi - own;
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      left -= waits[kind];
      if (in_all[kind] > 0) row.push_back({heading(kWaitNames[kind]), share(waits[kind], known)});
    }
    if (own_in_all > 0) row.push_back({"Own work", share(own, ended)});
    // Remove rounding errors.
    row.push_back({"Communication", share(left < 1e-9 * mpi ? 0 : left, known)});
    table.add(std::move(row));
  }
  return table.section("", width);
}

/// "" for a scenario that prices no collective.
std::string collectives_table(const ScenarioResult& scenario, int width) {
  if (scenario.collectives.empty()) return "";
  std::vector<double> bytes;
  for (const CollectiveUse& use : scenario.collectives)
    bytes.insert(bytes.end(), {use.smallest, use.largest});
  const Unit unit = common_bytes(bytes);
  Table table;
  for (const CollectiveUse& use : scenario.collectives) {
    table.add({{"Operation", use.operation},
               {"Members", use.members},
               {fmt::format("From ({})", unit.name), unit.show(use.smallest)},
               {fmt::format("To ({})", unit.name), unit.show(use.largest)},
               {"Algorithm", use.algorithm + (use.guessed ? ", guessed" : "")}});
  }
  return "\n" +
         wrap(fmt::format("{}: algorithms of collectives, by bytes per member", scenario.name),
              width, 2) +
         "\n" + table.text(width);
}

/// What the model of the recorded machine misses: recorded - predicted by call; "" without one.
std::string model_error_table(const Results& results, int width) {
  const Roles roles(results);
  const std::vector<ModelError> errors = model_errors(roles);
  if (errors.empty()) return "";
  Table table;
  const double elapsed = roles.judged->elapsed;
  const auto add = [&](const ModelError& each) {
    const double difference = each.difference();
    const char* sign = difference < 0 ? "-" : "";
    table.add({{"Mean rank", each.part},
               {"Recorded", each.recorded, As::kSeconds},
               {"Predicted", each.predicted, As::kSeconds},
               {"Difference", sign + show_seconds(std::abs(difference))},
               {"of Elapsed", fmt::format("{:.1f} %", 100 * difference / elapsed)}});
  };
  for (const ModelError& each : errors) {
    if (std::abs(each.difference()) >= 1e-4 * elapsed) add(each);
  }
  add({"Elapsed", elapsed, roles.own_machine->elapsed});
  return table.section(fmt::format("{} − {}: what the model misses, by call", roles.judged->name,
                                   roles.own_machine->name),
                       width);
}

}  // namespace

std::string report_text(const Report& report, const TextReportOptions& options) {
  const Results& results = *report.results;
  const int width = options.width;
  std::string answer;
  for (const std::string& line : report.verdict) answer += wrap(line, width, 0);
  std::string out;
  if (!results.scenarios.empty()) {
    if (!answer.empty()) out += answer + "\n";
    const std::string findings =
        findings_text(report.judgement, results, options.all ? SIZE_MAX : kFindingsShown, width);
    if (!findings.empty()) out += findings + "\n";
    out += scenario_table(report, width);
    out += calls_table(results, width) + waits_table(results.scenarios, width);
    out += "\n";
    for (const Sweep& sweep : report.sweeps) out += sweep_text(sweep, width) + "\n";
  }
  for (const ScenarioResult& scenario : results.scenarios) {
    const std::string line = links_line(scenario);
    if (!line.empty()) out += wrap(line, width, 2);
    const std::string contention = contention_line(results, scenario);
    if (!contention.empty()) out += wrap(contention, width, 2);
    for (const std::string& job : job_lines(scenario)) out += wrap(job, width, 2);
  }
  out += wrap(trace_line(results.trace), width, 2);
  if (!report.runs.empty()) out += wrap(report.runs, width, 2);
  out += wrap(report.kept_calls, width, 2);
  if (results.identity) out += wrap(identity_line(*results.identity), width, 2);
  for (const auto* notes : {&report.notes, &report.interval_notes, &report.scenario_notes}) {
    for (const std::string& line : *notes) out += wrap("Note: " + line, width, 2);
  }
  if (options.all) {
    for (const ScenarioResult& scenario : results.scenarios) {
      if (scenario.deadlock.empty()) out += collectives_table(scenario, width);
    }
  }
  if (options.all) out += model_error_table(results, width) + rank_tables(results, width);
  if (options.verdict_last && !answer.empty()) out += "\n" + answer;
  return out;
}

std::string describe_trace(const TraceSummary& trace, int width) {
  std::string out;
  const auto line = [&](const std::string& name, const std::string& value) {
    out += fmt::format("{:<15} {}\n", name, value);
  };
  line("Archive", trace.path);
  line("Recorded by", trace.creator.empty() ? "unknown" : trace.creator);
  if (!trace.command.empty()) line("Command", trace.command);
  if (!trace.mpi_library.empty()) line("MPI", trace.mpi_library);
  if (trace.elapsed > 0) line("Elapsed", show_seconds(trace.elapsed));
  line("Ranks", fmt::format("{} on {}, {}", show_count(trace.ranks), plural(trace.nodes, "node"),
                            plural(trace.locations, "location")));
  line("Records", show_count(trace.records));
  line("MPI calls", fmt::format("{}, {} in all ranks together", show_count(trace.mpi_calls),
                                show_seconds(trace.mpi_time)));
  line("Messages", show_count(trace.messages));
  line("Collectives", show_count(trace.collectives));
  line("Communicators", show_count(trace.communicators));
  const KernelSums& kernels = trace.kernels;
  if (kernels.streams > 0) {
    line("GPU streams",
         fmt::format("{}, {}, {} in all streams together", show_count(kernels.streams),
                     plural(kernels.count, "kernel"), show_seconds(kernels.time)));
  }
  if (const std::string runs = runs_line(trace); !runs.empty()) out += wrap(runs, width, 2);
  out += "\n" + wrap(kept_calls_line(trace), width, 2);
  for (const std::string& note : caveats(trace)) out += wrap("Note: " + note, width, 2);
  return out + longest_kernels(kernels.by_name).section("", width);
}

}  // namespace rubato
