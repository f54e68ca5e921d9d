#include "tools/words/verdict_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "models/base/shell_quoted.h"
#include "replay/judge/lost_cores.h"
#include "tools/format/numbers.h"
#include "tools/options/replay_command.h"

namespace rubato {
namespace {

std::string percent(double factor) {
  return fmt::format("{:.{}f} %", 100 * factor, factor < 0.01 ? 1 : 0);
}

/// ", in burn (app.c:12), called by assemble (app.c:23)". That main calls it says nothing.
std::string in_function(const std::string& function, const std::vector<std::string>& callers) {
  const std::string text = ", in " + function;
  return callers.empty() ? text : text + called_by(callers.back());
}

/// The same of a finding; "" without a function.
std::string in_function(const Finding& finding) {
  return finding.function.empty() ? "" : in_function(finding.function, finding.callers);
}

/// "app.c:12": a line, not the name of a function.
bool is_line(const std::string& place) {
  const size_t colon = place.rfind(':');
  return colon != std::string::npos && colon + 1 < place.size() &&
         place.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

/// ", 62 % of it for rank 3, in solve (app.c:12)"
std::string root_text(const Finding& finding) {
  if (finding.rank < 0) return "";
  return fmt::format(", {} of it for rank {}{}", percent(finding.share), finding.rank,
                     in_function(finding));
}

/// " in MPI_Recv, in exchange (app.c:12)", with the callers or the root cause.
std::string waits_text(const Finding& finding) {
  std::string text;
  if (!finding.call.empty()) text += " in " + finding.call;
  if (!finding.path.empty()) {
    std::vector<std::string> callers(finding.path.begin(), finding.path.end() - 1);
    if (finding.rank >= 0) callers.clear();  // the root cause is more important
    const std::string& place = finding.path.back();
    text += is_line(place) ? ", at " + place : in_function(place, callers);
  }
  return text + root_text(finding);
}

/// "MPI_Recv (1,184 calls)"
std::string calls_text(const Finding& finding) {
  return fmt::format("{} ({})", finding.call, counted(finding.calls, "call", "calls"));
}

/// "1,184 messages of 8 B on average, in exchange (app.c:12), most of it in MPI_Recv (1,184 calls)"
std::string messages_text(const Finding& finding) {
  std::string text;
  if (finding.messages > 0)
    text = fmt::format("{} of {} on average{}", counted(finding.messages, "message", "messages"),
                       show_bytes(static_cast<double>(finding.bytes)),
                       finding.of_run ? " in the run" : "");
  text += in_function(finding);
  if (!finding.call.empty()) text += ", most of it in " + calls_text(finding);
  if (text.empty()) return "no call has most of it";
  return finding.messages > 0 ? text : text.substr(2);
}

/// "placement=block:4": the change of the scenario that is suggested.
std::string placement_text(const Finding& finding) {
  const std::string& scenario = finding.scenarios.front();
  return scenario.substr(scenario.rfind("placement=")) + " keeps within nodes";
}

/// "user operation f, in MPI_Allreduce (4 calls)", "MPI_Win_create (4 calls) works by itself",
/// "MPI_Barrier and MPI_Bcast (9 calls) work by themselves"
std::string own_work_text(const Finding& finding) {
  if (finding.call.empty()) return "MPI calls work by themselves: no network changes that";
  if (!finding.function.empty()) return finding.function + ", in " + calls_text(finding);
  const bool is_one = finding.call.find(' ') == std::string::npos;
  return calls_text(finding) + (is_one ? " works by itself" : " work by themselves") +
         ": no network changes that";
}

/// "MPI_Comm_split (4 calls) keeps its recorded time"
std::string kept_text(const Finding& finding) {
  if (finding.call.empty()) return "calls keep their recorded time";
  return calls_text(finding) + " keeps its recorded time";
}

std::string lost_core_text(const Finding& finding) {
  return percent(finding.share) + " of their time";
}

std::string imbalance_text(const Finding& finding) {
  return fmt::format("rank {} computes {} longer than the mean rank{}{}", finding.rank,
                     percent(finding.share), in_function(finding),
                     finding.call.empty() ? "" : "; others wait for it in " + finding.call);
}

/// Waits by call and place.
std::string profile_command(const Finding&, const Results& results) {
  return ask_again("profile", results, "--all");
}

std::string replay_command(const Finding& finding, const Results& results) {
  std::string words;
  for (const std::string& scenario : finding.scenarios)
    words += fmt::format("{}--on {}", words.empty() ? "" : " ", shell_quoted(scenario));
  return words.empty() ? "" : ask_again("replay", results, words);
}

/// The replay with balanced work.
std::string balance_command(const Finding& finding, const Results& results) {
  constexpr size_t kLongest = 400;  // each rank has a change of its own
  const std::string command = replay_command(finding, results);
  return command.size() > kLongest ? ask_again("advise", results, "") : command;
}

/// The words of a kind: the beginning of its sentence, the rest of it, and the next command.
struct FindingWords {
  FindingKind kind;
  const char* begin;
  std::string (*rest)(const Finding&) = nullptr;
  std::string (*next)(const Finding&, const Results&) = replay_command;
};

constexpr std::array<FindingWords, kFindingKinds> finding_words() {
  using enum FindingKind;
  return {{
      {kLostCores, "other programs had the cores of ranks for ", lost_core_text},
      {kMessages, "", messages_text},
      {kSmallMessages, "", messages_text},
      {kTracing, "recording between calls"},
      {kLateReceiver, "sends wait for their receivers", waits_text, profile_command},
      {kLoadImbalance, "", imbalance_text, balance_command},
      {kChains, "ranks wait for each other in turn", waits_text, profile_command},
      {kWaits,
       "ranks wait for each other; kinds and causes are known from 2 % on, without --times-only",
       nullptr, profile_command},
      {kNoPartner,
       "MPI takes this time on a perfect interconnect, too, though no rank waits for another "
       "one; other sides of its messages may be missing in the archive"},
      {kLateRoot, "ranks wait for the root", waits_text, profile_command},
      {kSynchronisation, "ranks wait for each other", waits_text, profile_command},
      {kLateSender, "ranks wait", waits_text, profile_command},
      {kOwnWork, "", own_work_text},
      {kKeptCalls, "", kept_text},
      {kApart, "ranks begin or end at different times"},
      {kLatency, "", messages_text},
      {kOverhead, "processor time: ", messages_text},
      {kFormulas, "measured times of collectives: ", messages_text},
      {kPlacement, "messages between nodes that ", placement_text},
      {kContention, "flows share links: ", messages_text},
      {kLinks, "latency and bandwidth of the network's own links: ", messages_text},
      {kProgress, "long messages advance only while ranks are inside MPI: ", messages_text},
      {kBandwidth, "", messages_text},
  }};
}
constexpr std::array<FindingWords, kFindingKinds> kFindingWords = finding_words();
static_assert(has_each_kind(kFindingWords));

const FindingWords& words_of(const Finding& finding) {
  return kFindingWords[static_cast<size_t>(finding.kind)];
}

bool has_same_messages(const Finding& a, const Finding& b) {
  const auto said = [](const Finding& f) {
    return std::tie(f.messages, f.bytes, f.of_run, f.function, f.callers, f.call, f.calls);
  };
  return said(a) == said(b);
}

/// "49 % less", "1.1 % less"
std::string less(double gain) {
  return fmt::format("{:.{}f} % less", 100 * gain, gain < 0.1 ? 1 : 0);
}

std::string closure_line(const Conclusion& found) {
  const ScenarioResult& own = *found.own_machine;
  std::string text = fmt::format(
      "For the machine of the recording, the model ({}) predicts {}; recorded were "
      "{}{} ({}).",
      own.name, show_seconds(own.elapsed), show_seconds(found.recorded),
      found.without_losses ? " without lost cores" : "",
      signed_percent(own.elapsed - found.recorded, found.recorded));
  if (found.missed) {
    text +=
        fmt::format(" The largest difference of the mean rank is in {}: {} recorded, {} predicted.",
                    found.missed->part, show_seconds(found.missed->recorded),
                    show_seconds(found.missed->predicted));
  }
  return text;
}

const char* name_of(Conclusion::Part::Kind kind) {
  using enum Conclusion::Part::Kind;
  switch (kind) {
    case kLostCores:
      return "lost cores";
    case kFlushing:
      return "buffer flushes of the tracer";
    case kKeptCalls:
      return "calls kept as recorded";
    case kClockErrors:
      return "clock errors of up to";
    case kSharedCores:
      return "ranks or threads that shared cores";
    case kTracing:
      return "tracing overhead";
    case kTracingAndLostCores:
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

/// "waited for cores for 12.0 % of their time"
std::string without_cores(const Conclusion& found) {
  for (const Conclusion::Part& part : found.parts) {
    if (part.kind == Conclusion::Part::Kind::kLostCores)
      return fmt::format("waited for cores for {} of their time",
                         show_share(part.seconds, found.window));
  }
  return "or their threads shared cores";
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
               "Even a perfect interconnect would not make {} faster{}: its time is compute and "
               "waiting "
               "for other ranks.",
               name, in_part ? "" : " than its " + elapsed) +
           rest;
  }
  return fmt::format("On a perfect interconnect {} would take {}{} ({}).", name,
                     show_seconds(found.on_perfect), in_part ? "" : " instead of " + elapsed,
                     less(1 - found.on_perfect / found.elapsed)) +
         rest;
}

/// "3.1 ms are unexplained"
std::string unexplained(const Conclusion& found) {
  return show_seconds(std::abs(found.recorded - found.own_machine->elapsed)) + " are unexplained";
}

std::string conclusion_text(const Conclusion& found) {
  const std::string why = causes_text(found);
  switch (found.kind) {
    case ConclusionKind::kNone:
      break;
    case ConclusionKind::kUnexplained:
      return fmt::format("{}{}: no conclusion about faster networks.", unexplained(found),
                         why.empty() ? "" : "; possible causes: " + why);
    case ConclusionKind::kClocks:
      return "No conclusion about faster networks: the clocks of the ranks were not synchronised.";
    case ConclusionKind::kLacksCores:
      if (found.implausible) {
        return fmt::format(
            "No conclusion about the network: communication took the mean rank {}, on the slowest "
            "built-in network it would take {} at most. Ranks shared cores, or messages did not "
            "progress. Record again with a core for each rank.",
            show_seconds(found.implausible->seconds), show_seconds(found.implausible->plausible));
      }
      return fmt::format(
          "No conclusion about the network: ranks {}. Record again with a core for each rank.",
          without_cores(found));
    case ConclusionKind::kNoGain:
    case ConclusionKind::kGain:
      return gain_text(found);
  }
  return "";
}

/// "Main cost: messages, 3.1 ms: ...". Callers are left out of a sentence of more than 25 words.
std::string main_cost(const std::string& label, Finding finding) {
  constexpr std::ptrdiff_t kMostWords = 25;
  const auto text = [&] {
    return fmt::format("{}: {}, {}: {}", label, row_of(finding.kind).name,
                       show_seconds(finding.seconds), finding_text(finding));
  };
  if (finding.kind == FindingKind::kLoadImbalance) finding.call.clear();
  const std::string all = text();
  if (std::count(all.begin(), all.end(), ' ') < kMostWords) return all;
  finding.callers.clear();
  if (!finding.path.empty()) finding.path = {finding.path.back()};
  return text();
}

}  // namespace

std::string finding_text(const Finding& finding, std::span<const Finding> above) {
  const FindingWords& words = words_of(finding);
  if (!words.rest) return words.begin;
  const auto last = std::find_if(above.rbegin(), above.rend(), [](const Finding& other) {
    return words_of(other).rest == messages_text;
  });
  const bool is_same =
      words.rest == messages_text && last != above.rend() && has_same_messages(finding, *last);
  return words.begin + (is_same ? "the same messages" : words.rest(finding));
}

std::string called_by(const std::string& caller) {
  if (caller == "...") return ", on several call paths";
  const std::string name = caller.substr(0, caller.find(" ("));
  return name.empty() || name == "main" || name == "MAIN__" ? "" : ", called by " + caller;
}

std::string efficiency_line(const Judgement& judgement) {
  constexpr double kShownOwnWork = 0.995;  ///< below, the factor is named
  if (!judgement.efficiency) return "";
  if (judgement.without_mpi)
    return "No MPI call is recorded: another network, platform or placement changes nothing.";
  const Efficiency& e = judgement.efficiency->factors;
  std::string cause = judgement.efficiency->without_lost_cores ? "The cost of messages is not known"
                                                               : "Little can be gained";
  std::string label = "Main cost", beside;
  for (const Finding& finding : judgement.findings) {
    const bool is_uncertain = finding.half && *finding.half >= finding.seconds;
    if (finding.kind == FindingKind::kLostCores) {
      if (!is_uncertain && !judgement.efficiency->without_lost_cores)
        cause += beside = " beside lost cores";
      continue;
    }
    if (e.parallel() >= kGoodEfficiency) continue;
    cause = "No cost exceeds its uncertainty";
    if (is_uncertain) {
      label = "Largest certain cost";
      continue;
    }
    cause = main_cost(label + beside, finding);
    break;
  }
  const std::string own =
      e.own_work < kShownOwnWork ? " × own work of calls " + percent(e.own_work) : "";
  if (judgement.efficiency->without_lost_cores) {
    return fmt::format(
        "Without that time, on a perfect interconnect: load balance {}{} × serialisation {}. {}.",
        percent(e.load_balance), own, percent(e.serialisation), cause);
  }
  if (judgement.is_alone)
    return fmt::format("One rank: compute is {} of its time. {}.", percent(e.parallel()), cause);
  return fmt::format(
      "Parallel efficiency {} = load balance {}{} × serialisation {} × transfer {}. {}.",
      percent(e.parallel()), percent(e.load_balance), own, percent(e.serialisation),
      percent(e.transfer), cause);
}

std::string estimate_line(const Judgement& judgement) {
  if (!(judgement.least_elapsed > 0)) return "";
  return fmt::format(
      "Estimate: it would take {} if each call took the least recorded time of its name and "
      "length.",
      show_seconds(judgement.least_elapsed));
}

std::string headline(const Conclusion& found) {
  const std::string model = found.own_machine ? closure_line(found) : "";
  const std::string text = conclusion_text(found);
  return model + (model.empty() || text.empty() ? "" : " ") + text;
}

std::string no_conclusion(const Roles& roles, const Judgement& judgement) {
  if (!lacks_cores(roles)) return "";
  const std::string estimate = estimate_line(judgement);
  return headline(conclude(roles)) + (estimate.empty() ? "" : " " + estimate);
}

std::string short_answer(const Judgement& judgement, const Conclusion& found) {
  const std::optional<JudgedEfficiency>& known = judgement.efficiency;
  const bool is_good = known && known->factors.parallel() >= kGoodEfficiency;
  for (const Finding& finding : judgement.findings) {
    if (finding.half && *finding.half >= finding.seconds) continue;
    if (is_good && finding.kind != FindingKind::kLostCores) continue;
    std::string name = row_of(finding.kind).name;
    name[0] = static_cast<char>(std::toupper(name[0]));
    return fmt::format("{}: {}{} of {}", name, finding.is_bound() ? "at most " : "",
                       percent(finding.of_elapsed),
                       show_seconds(finding.seconds / finding.of_elapsed));
  }
  if (known && !known->without_lost_cores)
    return "Parallel efficiency: " + percent(known->factors.parallel());
  switch (found.kind) {
    case ConclusionKind::kNone:
      break;
    case ConclusionKind::kUnexplained:
      return "No conclusion: " + unexplained(found);
    case ConclusionKind::kClocks:
      return "No conclusion: the clocks were not synchronised";
    case ConclusionKind::kLacksCores:
      return "No conclusion: ranks lacked cores";
    case ConclusionKind::kNoGain:
    case ConclusionKind::kGain:
      return "Perfect interconnect: " + less(1 - found.on_perfect / found.elapsed);
  }
  return "";
}

std::string next_command(const Finding& finding, const Results& results) {
  return (finding.is_replayed ? balance_command : words_of(finding).next)(finding, results);
}

}  // namespace rubato
