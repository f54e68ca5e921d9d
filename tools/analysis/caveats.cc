#include "tools/analysis/caveats.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.h"
#include "models/scenario/scenario.h"
#include "tools/analysis/lost_cores.h"
#include "tools/analysis/other_rows.h"
#include "tools/analysis/warnings.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

std::string such_as(const std::string& example) {
  return example.empty() ? "" : fmt::format(" (such as {})", example);
}

std::string clock_line(const TraceSummary& trace) {
  if (trace.one_clock) {
    return fmt::format(
        "{} before another rank reached the same operation, by the clock that all ranks share, "
        "the first at {}: the library let them return early; their times are kept.",
        counted(trace.clock_violations.total(), "call ends", "calls end"),
        trace.clock_violations.first);
  }
  const std::string violations =
      fmt::format("{} before their cause, by the clocks of the archive",
                  counted(trace.clock_violations.total(), "call ends", "calls end"));
  if (!trace.clock_repair) return violations + ": the clocks are not synchronised.";
  const ClockRepair& repair = *trace.clock_repair;
  return fmt::format(
      "{} ({}, {}). The clock repair moved calls of {} later, by up to {}: "
      "afterwards {}.",
      violations, counted(trace.clock_violations.messages, "message", "messages"),
      counted(trace.clock_violations.collectives, "collective", "collectives"),
      counted(repair.ranks, "rank", "ranks"), show_seconds(repair.largest_shift),
      repair.after.total() == 0
          ? "none does"
          : fmt::format("{}, the first at {}",
                        counted(repair.after.total(), "still does", "still do"),
                        repair.after.first));
}

/// The eager limits that were inferred from recorded sends.
std::string eager_line(const EagerSummary& eager) {
  std::string limits;
  for (const auto& [limit, where] :
       {std::pair{eager.node, "on a node"}, {eager.network, "between nodes"}}) {
    if (limit.from != EagerLimit::From::kRecording) continue;
    limits += fmt::format("{}of more than {} {}", limits.empty() ? "" : " and ",
                          show_bytes(*limit.bytes), where);
  }
  if (limits.empty()) return "";
  return fmt::format(
      "Sends {} wait for their receivers: the limit was inferred from a recorded send, because "
      "neither the archive nor --eager-limit gives it.",
      limits);
}

}  // namespace

std::string kept_calls_line(const TraceSummary& trace) {
  // Archives of other tracers do not record which calls they could observe.
  const bool all_seen = trace.unwatched == "none";
  const std::string unseen =
      all_seen || trace.unwatched.empty()
          ? ""
          : fmt::format(" Calls by {} may be missing: they bypass the tracer.", trace.unwatched);
  if (trace.kept.empty()) {
    return fmt::format("Every {}MPI call that communicates is replayed.{}",
                       all_seen ? "" : "recorded ", unseen);
  }
  double time = 0;
  std::string names;
  for (const KeptCall& kept : trace.kept) {
    time += kept.time;
    names += fmt::format("{}{} ({}, {}{}{})", names.empty() ? "" : "; ", kept.call,
                         counted(kept.count, "call", "calls"), show_seconds(kept.time),
                         kept.first_at.empty() ? "" : ", first at ", kept.first_at);
  }
  return fmt::format("{} of MPI time is kept as recorded because it cannot be replayed: {}.{}",
                     show_share(time, trace.mpi_time), names, unseen);
}

void refuse_kept_calls(const TraceSummary& trace) {
  if (trace.kept.empty() && (trace.unwatched.empty() || trace.unwatched == "none")) return;
  throw InputError(fmt::format("{}: --strict: {}", trace.path, kept_calls_line(trace)));
}

std::vector<std::string> caveats(const TraceSummary& trace) {
  std::vector<std::string> lines;
  if (trace.spinning_calls > 0) {
    lines.push_back(
        fmt::format("{} in a loop or in MPI_Probe ({} in total): modelled machines treat each "
                    "loop as one wait, unless --polling keep is given.",
                    counted(trace.spinning_calls, "call polled", "calls polled"),
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
  if (const std::string line = eager_line(trace.eager); !line.empty()) lines.push_back(line);
  for (std::string& warning : warnings_about(trace)) lines.push_back(std::move(warning));
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
          "{}: {} of MPI_Test, MPI_Iprobe, MPI_Waitany and similar as recorded, although messages "
          "arrive in another order or at other times on this machine; this affects {} of the time "
          "of all ranks.",
          scenario.name, counted(scenario.contradicted_outcomes, "outcome stays", "outcomes stay"),
          show_seconds(scenario.contradicted_time)));
    }
    if (!scenario.grade.empty())
      lines.push_back(
          fmt::format("{}: the calibration has deficiencies ({}).", scenario.name, scenario.grade));
    for (const std::string& warning : warnings_about(scenario)) {
      lines.push_back(fmt::format("{}: {}", scenario.name, warning));
    }
  }
  return lines;
}

namespace {

// Beyond this a prediction is not trusted.
constexpr double kMostUnexplained = 0.1;  ///< deviation of the own machine's model from the
                                          ///< recorded time

/// "49 % less", "1.1 % less"
std::string less(double gain) {
  return fmt::format("{:.{}f} % less", 100 * gain, gain < 0.1 ? 1 : 0);
}

/// The first scenario with a platform file measured on the archive's own machine.
const ScenarioResult* own_machine(const Results& results) {
  for (const ScenarioResult& scenario : results.scenarios) {
    if (scenario.own_machine && scenario.deadlock.empty()) return &scenario;
  }
  return nullptr;
}

/// True if the model of the archive's own machine misses the recorded time.
bool misses(const ScenarioResult* own, const ScenarioResult& measured) {
  return own && std::abs(own->elapsed / measured.elapsed - 1) > kMostUnexplained;
}

std::string closure_line(const ScenarioResult& own, const ScenarioResult& measured) {
  return fmt::format(
      "For the machine of the recording, the model ({}) predicts {}; recorded were "
      "{} ({:+.1f} %).",
      own.name, show_seconds(own.elapsed), show_seconds(measured.elapsed),
      100 * (own.elapsed / measured.elapsed - 1));
}

/// Possible causes of the difference between a model and the recording, with shares.
std::string doubts(const TraceSummary& trace, const ScenarioResult& measured) {
  const double ranks = static_cast<double>(std::max<size_t>(1, measured.ranks.size()));
  std::vector<std::string> parts;
  const auto add = [&](const std::string& what, double seconds) {
    if (seconds <= 0.001 * measured.elapsed) return;
    parts.push_back(fmt::format("{} {} ({})", what, show_seconds(seconds),
                                show_share(seconds, mean_window(measured.ranks))));
  };
  add("lost cores", mean(measured.ranks, &RankResult::lost_core));
  add("buffer flushes of the tracer", mean(measured.ranks, &RankResult::flushing));
  double kept = 0;
  for (const KeptCall& call : trace.kept) kept += call.time;
  add("calls kept as recorded", kept / ranks);
  if (trace.clock_repair) add("clock errors of up to", trace.clock_repair->largest_shift);
  if (trace.shared_cores) parts.push_back("ranks that shared cores");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Time that only "measured" contains, and that is therefore part of the savings on other machines.
std::string not_the_network(const Results& results, const ScenarioResult& measured) {
  std::string text;
  const auto add = [&](const char* what, double seconds) {
    if (seconds >= 0.005 * measured.elapsed)
      text += fmt::format(" {} {} of the difference.", what, show_seconds(seconds));
  };
  const ScenarioResult* undisturbed = scenario_named(results, "undisturbed");
  if (undisturbed) {
    const bool lost = mean(measured.ranks, &RankResult::lost_core) >= 0.005 * measured.elapsed;
    add(lost ? "Tracing overhead and lost cores account for" : "Tracing overhead accounts for",
        measured.elapsed - undisturbed->elapsed);
  } else {
    add("Buffer flushes of the tracer account for", mean(measured.ranks, &RankResult::flushing));
    add("Lost cores account for", mean(measured.ranks, &RankResult::lost_core));
  }
  return text;
}

/// "ethernet-1g, infiniband-hdr: 0 of 16,816 messages cross the network ..."
std::string unused_network_line(const Results& results) {
  const ScenarioResult* first = nullptr;
  std::string names;
  for (const ScenarioResult& scenario : results.scenarios) {
    if (!scenario.network_unused) continue;
    if (!first) first = &scenario;
    names += (names.empty() ? "" : ", ") + scenario.name;
  }
  if (!first) return "";
  uint64_t messages = 0;
  for (const LevelTraffic& level : first->traffic) messages += level.messages;
  const std::string what =
      messages > 0 ? fmt::format("0 of {} cross", counted(messages, "message", "messages"))
                   : "no collective crosses";
  std::vector<std::string> changes = first->changes;
  std::erase_if(changes, [](const std::string& change) {
    return change.starts_with("ppn=") || change.starts_with("placement=");
  });
  changes.emplace_back("ppn=1");
  return fmt::format("{}: {} the network ({}); to use it, try {}.", names, what,
                     results.trace.nodes == 1 && results.trace.ranks > 1
                         ? "all ranks on 1 node"
                         : "ranks that communicate share a node",
                     scenario_text(first->base, changes));
}

}  // namespace

std::vector<std::string> caveats(const Results& results) {
  std::vector<std::string> lines = caveats(results.trace);
  const std::string unused = unused_network_line(results);
  if (!unused.empty()) lines.push_back(unused);
  const ScenarioResult* measured = scenario_named(results, "measured");
  if (!measured || measured->ranks.empty()) return lines;
  const auto share = [&](double RankResult::*seconds) {
    const double time = mean(measured->ranks, seconds);
    return fmt::format("{} ({})", show_seconds(time),
                       show_share(time, mean_window(measured->ranks)));
  };
  const double window = mean_window(measured->ranks);
  if (mean(measured->ranks, &RankResult::not_recorded) > 0) {
    lines.push_back(fmt::format(
        "{} of the mean rank was not recorded because measurement was switched off: it counts as "
        "neither compute nor MPI, and is the same in every scenario.",
        share(&RankResult::not_recorded)));
  }
  if (mean(measured->ranks, &RankResult::flushing) > 0.001 * window) {
    lines.push_back(fmt::format(
        "the tracer flushed its buffer for {} of the mean rank: only measured includes this time.",
        share(&RankResult::flushing)));
  }
  if (mean(measured->ranks, &RankResult::lost_core) > 0.001 * window) {
    lines.push_back(
        fmt::format("the mean rank was descheduled for {}: undisturbed and platforms exclude this "
                    "time (--keep-stolen includes it).",
                    share(&RankResult::lost_core)));
  }
  return lines;
}

bool is_unexplained(const Results& results) {
  const ScenarioResult* measured = scenario_named(results, "measured");
  return measured && (misses(own_machine(results), *measured) || lacks_cores(results) ||
                      has_unsynchronised_clocks(results.trace));
}

std::string headline(const Results& results) {
  const ScenarioResult* measured = scenario_named(results, "measured");
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!measured || !(measured->elapsed > 0)) return "";
  const ScenarioResult* own = own_machine(results);
  std::string text = own ? closure_line(*own, *measured) : "";
  const std::string why = doubts(results.trace, *measured);
  if (misses(own, *measured)) {
    text += fmt::format(" {} are unexplained{}: no conclusion about faster networks.",
                        show_seconds(std::abs(measured->elapsed - own->elapsed)),
                        why.empty() ? "" : "; possible causes: " + why);
    return text;
  }
  if (!perfect) return text;
  if (own) text += " ";
  if (has_unsynchronised_clocks(results.trace)) {
    return text +
           "No conclusion about faster networks: the clocks of the ranks were not synchronised.";
  }
  if (lacks_cores(results)) {
    return text +
           fmt::format(
               "No conclusion about the network: ranks waited for cores ({}), and this time is "
               "part of the difference between measured and perfect. Record again with a core for "
               "each rank.",
               why.empty() ? "shared with other programs" : why);
  }
  // Time lost to other programs is not saved by a better network.
  const bool lost = lost_cores(results);
  const ScenarioResult& run = lost ? *scenario_named(results, "undisturbed") : *measured;
  const double off = mean(measured->ranks, &RankResult::not_recorded);
  const double recorded = run.elapsed - off;
  const double left = std::max(0.0, perfect->elapsed - off);
  if (!(recorded > 0)) return text;
  const double gain = 1 - left / recorded;
  const std::string name =
      (off > 0 ? fmt::format("the recorded {} of this run", show_seconds(recorded)) : "this run") +
      (lost ? " without lost cores" : "");
  if (gain < 0.005) {
    text += fmt::format(
        "Even a perfect interconnect would not make {} faster{}: the time is spent in compute and "
        "in waiting for other ranks, not in the network.",
        name, off > 0 ? "" : " than its " + show_seconds(run.elapsed));
  } else if (off > 0) {
    text += fmt::format("On a perfect interconnect {} would take {} ({}).", name,
                        show_seconds(left), less(gain));
  } else {
    text += fmt::format("On a perfect interconnect {} would take {} instead of {} ({}).", name,
                        show_seconds(perfect->elapsed), show_seconds(run.elapsed), less(gain));
  }
  if (!lost) return text + not_the_network(results, *measured);
  return text + fmt::format(" Ranks were descheduled for {} of their time.",
                            show_share(lost_share(results), 1));
}

std::string identity_line(const IdentityResult& identity) {
  if (identity.differing == 0) {
    return fmt::format("Verified: measured reproduces all {} records exactly.",
                       show_count(identity.records));
  }
  const std::string reason =
      identity.backwards > 0
          ? fmt::format("In the archive {} earlier than the record before: a clock ran backwards",
                        counted(identity.backwards, "record is", "records are"))
          : "This is an error in Rubato";
  return fmt::format(
      "NOT VERIFIED: {} of {} records of \"measured\" deviate from the recording, by up to {} "
      "ticks, the first at {}. {}: do not trust the results.",
      show_count(identity.differing), show_count(identity.records), identity.worst_ticks,
      identity.first, reason);
}

bool outside_elapsed(const std::string& call) {
  return call == "MPI_Init" || call == "MPI_Init_thread" || call == "MPI_Finalize";
}

const ScenarioResult* scenario_named(const Results& results, const std::string& name) {
  for (const ScenarioResult& scenario : results.scenarios) {
    if (scenario.name == name && scenario.deadlock.empty()) return &scenario;
  }
  if (results.undisturbed && name == results.undisturbed->name &&
      results.undisturbed->deadlock.empty())
    return &*results.undisturbed;
  return nullptr;
}

const ScenarioResult* reference_scenario(const std::vector<ScenarioResult>& scenarios) {
  for (const ScenarioResult& scenario : scenarios) {
    if (scenario.name == "measured") return &scenario;
  }
  return scenarios.empty() ? nullptr : &scenarios.front();
}

}  // namespace rubato
