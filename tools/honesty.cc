#include "tools/honesty.h"

#include <fmt/core.h>

#include <cmath>

#include "models/error.h"
#include "tools/numbers.h"

namespace rubato {
namespace {

const ScenarioResult* scenario_named(const Results& results, const std::string& name) {
  for (const ScenarioResult& scenario : results.scenarios) {
    if (scenario.name == name && scenario.deadlock.empty()) return &scenario;
  }
  return nullptr;
}

std::string counted(uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", show_count(count), count == 1 ? one : many);
}

std::string such_as(const std::string& example) {
  return example.empty() ? "" : fmt::format(" (such as {})", example);
}

std::string clock_line(const TraceSummary& trace) {
  if (trace.one_clock) {
    return fmt::format(
        "{} before another rank reached the same operation, by the one clock that all ranks share, "
        "the first at {}: MPI let them leave early, and their times stay.",
        counted(trace.clock_violations.total(), "call ends", "calls end"),
        trace.clock_violations.first);
  }
  const std::string violations =
      fmt::format("{} before what was waited for, by the clocks of the archive",
                  counted(trace.clock_violations.total(), "call ends", "calls end"));
  if (!trace.clock_repair) return violations + ": they disagree.";
  const ClockRepair& repair = *trace.clock_repair;
  return fmt::format("{} ({}, {}). Calls of {} were moved later, by up to {}: now {}.", violations,
                     counted(trace.clock_violations.messages, "message", "messages"),
                     counted(trace.clock_violations.collectives, "collective", "collectives"),
                     counted(repair.ranks, "rank", "ranks"), show_seconds(repair.largest_shift),
                     repair.after.total() == 0
                         ? "none does"
                         : fmt::format("{}, the first at {}",
                                       counted(repair.after.total(), "still does", "still do"),
                                       repair.after.first));
}

}  // namespace

std::string kept_calls_line(const TraceSummary& trace) {
  if (trace.kept.empty()) return "Every MPI call that communicates is replayed.";
  double time = 0;
  std::string names;
  for (const KeptCall& kept : trace.kept) {
    time += kept.time;
    names += fmt::format("{}{} ({}, {}{}{})", names.empty() ? "" : "; ", kept.call,
                         counted(kept.count, "call", "calls"), show_seconds(kept.time),
                         kept.first_at.empty() ? "" : ", first at ", kept.first_at);
  }
  return fmt::format("{} of MPI time keeps its recorded length because it cannot be replayed: {}.",
                     show_share(time, trace.mpi_time), names);
}

void refuse_kept_calls(const TraceSummary& trace) {
  if (trace.kept.empty()) return;
  throw InputError(fmt::format("{}: --strict: {}", trace.path, kept_calls_line(trace)));
}

std::vector<std::string> caveats(const TraceSummary& trace) {
  std::vector<std::string> lines;
  if (trace.spinning_calls > 0) {
    lines.push_back(
        fmt::format("{} in a loop until something came, or in MPI_Probe ({} inside): on a modelled "
                    "machine that is "
                    "a wait; --polling keep leaves it as it is.",
                    counted(trace.spinning_calls, "call looked", "calls looked"),
                    show_seconds(trace.spinning_time)));
  }
  if (trace.unmatched_sends > 0) {
    lines.push_back(fmt::format("{} without a receive{}: treated as eager and dropped.",
                                counted(trace.unmatched_sends, "send", "sends"),
                                such_as(trace.unmatched_send)));
  }
  if (trace.unmatched_receives > 0) {
    lines.push_back(fmt::format("{} without a send{}: the recorded time is kept.",
                                counted(trace.unmatched_receives, "receive", "receives"),
                                such_as(trace.unmatched_receive)));
  }
  if (trace.clock_violations.total() > 0) lines.push_back(clock_line(trace));
  lines.insert(lines.end(), trace.warnings.begin(), trace.warnings.end());
  return lines;
}

std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios) {
  std::vector<std::string> lines;
  for (const ScenarioResult& scenario : scenarios) {
    if (!scenario.deadlock.empty()) {
      lines.push_back(fmt::format("{}: the program deadlocks on this machine: {}", scenario.name,
                                  scenario.deadlock));
    }
    if (scenario.contradicted_outcomes > 0) {
      lines.push_back(fmt::format(
          "{}: {} of MPI_Test, MPI_Iprobe, MPI_Waitany and their like as recorded, though on this "
          "machine another message comes first, none yet, or one before; that touches {} of all "
          "ranks' time.",
          scenario.name, counted(scenario.contradicted_outcomes, "outcome stays", "outcomes stay"),
          show_seconds(scenario.contradicted_time)));
    }
    for (const std::string& warning : scenario.warnings) {
      lines.push_back(fmt::format("{}: {}", scenario.name, warning));
    }
  }
  return lines;
}

std::string headline(const Results& results) {
  const ScenarioResult* measured = scenario_named(results, "measured");
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!measured || !perfect || !(measured->elapsed > 0)) return "";
  const double gain = 1 - perfect->elapsed / measured->elapsed;
  std::string text =
      gain < 0.005
          ? fmt::format(
                "Even a perfect interconnect would not make this run faster than its {}: the "
                "time goes into compute and into waiting for other ranks, not into the "
                "network.",
                show_seconds(measured->elapsed))
          : fmt::format(
                "On a perfect interconnect this run would take {} instead of {} ({:.{}f} % less).",
                show_seconds(perfect->elapsed), show_seconds(measured->elapsed), 100 * gain,
                gain < 0.1 ? 1 : 0);
  // What recording cost is part of "measured" alone, and so of the difference.
  const ScenarioResult* undisturbed = scenario_named(results, "undisturbed");
  const double recording = undisturbed ? measured->elapsed - undisturbed->elapsed : 0;
  if (recording >= 0.005 * measured->elapsed) {
    text += fmt::format(" Recording it took {} of that.", show_seconds(recording));
  }
  return text;
}

std::string identity_line(const IdentityResult& identity) {
  if (identity.differing == 0) {
    return fmt::format("Verified: measured gives all {} records back to the tick.",
                       show_count(identity.records));
  }
  const std::string reason =
      identity.backwards > 0
          ? fmt::format("In the archive {} earlier than the one before: a clock ran backwards",
                        counted(identity.backwards, "record is", "records are"))
          : "This is an error in Rubato";
  return fmt::format(
      "NOT VERIFIED: {} of {} records of \"measured\" are not at the recorded tick, by up to {} "
      "ticks, the first at {}. {}: do not trust the results.",
      show_count(identity.differing), show_count(identity.records), identity.worst_ticks,
      identity.first, reason);
}

bool outside_elapsed(const std::string& call) {
  return call == "MPI_Init" || call == "MPI_Init_thread" || call == "MPI_Finalize";
}

const ScenarioResult* reference_scenario(const std::vector<ScenarioResult>& scenarios) {
  for (const ScenarioResult& scenario : scenarios) {
    if (scenario.name == "measured") return &scenario;
  }
  return scenarios.empty() ? nullptr : &scenarios.front();
}

}  // namespace rubato
