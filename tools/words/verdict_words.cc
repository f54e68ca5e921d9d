#include "tools/words/verdict_words.h"

#include <fmt/core.h>

#include <cmath>

#include "models/base/shell_quoted.h"
#include "tools/format/numbers.h"
#include "tools/options/replay_command.h"

namespace rubato {
namespace {

std::string percent(double factor) {
  return fmt::format("{:.{}f} %", 100 * factor, factor < 0.01 ? 1 : 0);
}

/// "messages and tracing take 2.1 s, most of it in MPI_Allreduce (2 calls)"
std::string transfer_text(const char* what, const Finding& finding) {
  const std::string text = fmt::format("{} {}", what, show_seconds(finding.seconds));
  if (finding.mostly_tracing) return text + ", most of it tracing between calls";
  if (finding.call.empty()) return text;
  return fmt::format("{}, most of it in {} ({})", text, finding.call,
                     counted(finding.calls, "call", "calls"));
}

std::string chains_text(const Finding& finding) {
  std::string text = "dependency chains between ranks cause waits even on a perfect interconnect";
  if (finding.call.empty()) return text;
  text += ", mostly in " + finding.call;
  if (finding.rank < 0) return text;
  text += fmt::format("; rank {} is the root cause of {} of all waits", finding.rank,
                      percent(finding.share));
  return finding.function.empty() ? text : text + ", most of it in " + finding.function;
}

/// A finding as a cause.
std::string cause_text(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kTracing:
      return fmt::format("tracing takes {}", show_seconds(finding.seconds));
    case FindingKind::kMessages:
      return transfer_text("messages take", finding);
    case FindingKind::kMessagesAndTracing:
      return transfer_text("messages and tracing take", finding);
    case FindingKind::kUnequalWork:
      return fmt::format("rank {} computes {} longer than the mean rank{}", finding.rank,
                         percent(finding.share),
                         finding.function.empty() ? "" : ", in " + finding.function);
    case FindingKind::kKeptCalls:
      return fmt::format("calls kept as recorded take {} of the mean rank",
                         show_seconds(finding.seconds));
    case FindingKind::kApart:
      return fmt::format("ranks begin or end at different times: the mean rank is inactive for {}",
                         show_seconds(finding.seconds));
    case FindingKind::kChains:
      break;
  }
  return chains_text(finding);
}

/// "49 % less", "1.1 % less"
std::string less(double gain) {
  return fmt::format("{:.{}f} % less", 100 * gain, gain < 0.1 ? 1 : 0);
}

std::string closure_line(const Conclusion& found) {
  const ScenarioResult& own = *found.own_machine;
  return fmt::format(
      "For the machine of the recording, the model ({}) predicts {}; recorded were "
      "{} ({:+.1f} %).",
      own.name, show_seconds(own.elapsed), show_seconds(found.measured),
      100 * (own.elapsed / found.measured - 1));
}

const char* name_of(Conclusion::Part::Kind kind) {
  using Kind = Conclusion::Part::Kind;
  switch (kind) {
    case Kind::kLostCores:
      return "lost cores";
    case Kind::kFlushing:
      return "buffer flushes of the tracer";
    case Kind::kKeptCalls:
      return "calls kept as recorded";
    case Kind::kClockErrors:
      return "clock errors of up to";
    case Kind::kSharedCores:
      return "ranks that shared cores";
    case Kind::kTracing:
      return "tracing overhead";
    case Kind::kTracingAndLostCores:
      return "tracing overhead and lost cores";
  }
  return "";
}

/// "lost cores 3.1 ms (2.0 %), ranks that shared cores"
std::string causes_text(const Conclusion& found) {
  std::string text;
  for (const Conclusion::Part& part : found.parts) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(part.kind));
    if (part.kind == Conclusion::Part::Kind::kSharedCores) continue;
    text +=
        fmt::format(" {} ({})", show_seconds(part.seconds), show_share(part.seconds, found.window));
  }
  return text;
}

/// " Lost cores account for 3.1 ms of the difference."
std::string parts_text(const Conclusion& found) {
  std::string text;
  for (const Conclusion::Part& part : found.parts) {
    std::string name = name_of(part.kind);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    const bool one = part.kind == Conclusion::Part::Kind::kTracing;
    text += fmt::format(" {} {} for {} of the difference.", name, one ? "accounts" : "account",
                        show_seconds(part.seconds));
  }
  return text;
}

/// With the time on a perfect interconnect.
std::string gain_text(const Conclusion& found) {
  const bool lost = found.lost_share > 0;
  const bool in_part = found.not_recorded > 0;
  const std::string elapsed = show_seconds(found.elapsed);
  const std::string name =
      (in_part ? fmt::format("the recorded {} of this run", elapsed) : std::string("this run")) +
      (lost ? " without lost cores" : "");
  const std::string rest = lost ? fmt::format(" Ranks were descheduled for {} of their time.",
                                              show_share(found.lost_share, 1))
                                : parts_text(found);
  if (found.kind == ConclusionKind::kNoGain) {
    return fmt::format(
               "Even a perfect interconnect would not make {} faster{}: the time is spent in "
               "compute and in waiting for other ranks, not in the network.",
               name, in_part ? "" : " than its " + elapsed) +
           rest;
  }
  return fmt::format("On a perfect interconnect {} would take {}{} ({}).", name,
                     show_seconds(found.on_perfect), in_part ? "" : " instead of " + elapsed,
                     less(1 - found.on_perfect / found.elapsed)) +
         rest;
}

}  // namespace

std::string efficiency_line(const Judgement& judgement) {
  if (!judgement.efficiency) return "";
  const Efficiency& e = judgement.efficiency->factors;
  const std::string cause =
      judgement.main_cause ? cause_text(*judgement.main_cause) : "little can be gained";
  if (judgement.efficiency->without_lost_cores) {
    return fmt::format(
        "Excluding that time, on a perfect interconnect: load balance {} × serialisation {}: {}.",
        percent(e.load_balance), percent(e.serialisation), cause);
  }
  return fmt::format(
      "Parallel efficiency {} = load balance {} × serialisation {} × transfer {}: {}.",
      percent(e.parallel()), percent(e.load_balance), percent(e.serialisation), percent(e.transfer),
      cause);
}

std::string headline(const Conclusion& found) {
  std::string text = found.own_machine ? closure_line(found) : "";
  if (found.kind == ConclusionKind::kNone) return text;
  if (found.own_machine) text += " ";
  const std::string why = causes_text(found);
  switch (found.kind) {
    case ConclusionKind::kUnexplained:
      return text + fmt::format("{} are unexplained{}: no conclusion about faster networks.",
                                show_seconds(std::abs(found.measured - found.own_machine->elapsed)),
                                why.empty() ? "" : "; possible causes: " + why);
    case ConclusionKind::kClocks:
      return text +
             "No conclusion about faster networks: the clocks of the ranks were not synchronised.";
    case ConclusionKind::kLacksCores:
      return text +
             fmt::format(
                 "No conclusion about the network: ranks waited for cores ({}), and this time is "
                 "part of the difference between measured and perfect. Record again with a core "
                 "for each rank.",
                 why.empty() ? "shared with other programs" : why);
    default:
      return text + gain_text(found);
  }
}

std::string cure_text(FindingKind kind) {
  switch (kind) {
    case FindingKind::kTracing:
      return "free tracing";
    case FindingKind::kMessages:
      return "free messages";
    case FindingKind::kMessagesAndTracing:
      return "free messages and tracing";
    case FindingKind::kUnequalWork:
      return "equal work on all ranks";
    case FindingKind::kKeptCalls:
      return "free kept calls";
    case FindingKind::kApart:
      return "ranks that begin and end together";
    case FindingKind::kChains:
      break;
  }
  return "no dependency chains between ranks";
}

std::string next_command(const Finding& finding, const Results& results) {
  if (finding.scenarios.empty()) return "";
  std::string words;
  for (const std::string& scenario : finding.scenarios)
    words += fmt::format("{}--on {}", words.empty() ? "" : " ", shell_quoted(scenario));
  return ask_again("replay", results, words);
}

}  // namespace rubato
