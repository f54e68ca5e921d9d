#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "models/base/shell_quoted.h"
#include "tools/files/run_times.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/studies/diff_report.h"
#include "tools/words/verdict_words.h"

namespace rubato {
namespace {

/// "+12.3 ms", "-12.3 ms", "0 s"
std::string signed_seconds(double seconds) {
  return seconds > 0 ? "+" + show_seconds(seconds) : show_seconds(seconds);
}

/// "±2.1 %"
std::string half_width(double share) {
  return fmt::format("±{:.1f} %", 100 * share);
}

std::string line(const char* label, const std::string& text, int width) {
  return wrap(fmt::format("{}: {}", label, text), width, 2);
}

std::string several(const DiffSide& side) {
  std::vector<double> elapsed;
  for (const RunTime& run : side.times) elapsed.push_back(run.elapsed);
  return elapsed.size() == 1 ? "" : fmt::format(" (mean of {})", show_runs(elapsed));
}

std::string elapsed_text(const DiffResults& results) {
  return fmt::format("{}: {}, {}{} → {}, {}{}", signed_percent(results.slowdown.share, 1),
                     name_of(results.before), show_seconds(results.slowdown.before),
                     several(results.before), name_of(results.after),
                     show_seconds(results.slowdown.after), several(results.after));
}

/// Differences below this are not worth a place: a thousandth of the run.
bool is_small(double seconds, const DiffResults& results) {
  return std::abs(seconds) < 1e-3 * results.slowdown.before;
}

std::string compute_text(const DiffResults& results) {
  const DiffSummary& s = results.summary;
  std::string text = signed_seconds(s.compute) + " in the mean rank";
  if (is_small(s.on_rank, results)) return text;
  text += s.compute_rank < 0
              ? ", similar on all ranks"
              : fmt::format("; {} on rank {}", signed_seconds(s.on_rank), s.compute_rank);
  if (!s.function.empty())
    text += fmt::format("; {} in {}{}{}", signed_seconds(s.in_function), s.function,
                        s.with_callees ? " with callees" : "", called_by(s.caller));
  return text;
}

std::string mpi_text(const DiffResults& results) {
  const DiffSummary& s = results.summary;
  std::string text = signed_seconds(s.mpi) + " in the mean rank";
  if (s.call.empty() || is_small(s.in_call, results)) return text;
  text += fmt::format("; {} in {}", signed_seconds(s.in_call), s.call);
  if (!s.site.empty()) text += fmt::format(" ({})", s.site);
  if (is_small(s.waiting, results)) return text;
  text += fmt::format(", {} of it waiting", signed_seconds(s.waiting));
  if (s.waited_rank >= 0) text += fmt::format(" for rank {}", s.waited_rank);
  return text;
}

/// "1,200 messages of 6.3 MiB"
std::string messages_text(const MessageSum& sum) {
  return fmt::format("{}, {}", counted(sum.count, "message", "messages"),
                     show_bytes(static_cast<double>(sum.bytes)));
}

std::string calls_text(const DiffResults& results) {
  const RunDifference& d = results.difference;
  const DiffSummary& s = results.summary;
  const uint64_t others = d.different + d.only_before + d.only_after;
  std::string text =
      others == 0 ? fmt::format("all {} match", show_count(d.same))
                  : fmt::format("{} match, {} differ", show_count(d.same), show_count(others));
  if (s.messages_before != s.messages_after) {
    text +=
        fmt::format("; {} → {}", messages_text(s.messages_before), messages_text(s.messages_after));
  }
  const auto at = [](const Divergence& place) {
    const OperationPlace& operation = place.after.event ? place.after : place.before;
    return fmt::format("rank {}, {} at {}", place.rank, operation.what, show_seconds(place.time));
  };
  if (d.first_difference)
    text += "; first difference: " + at(*d.first_difference);
  else if (d.first_drift) {
    const Drift& drift = *d.first_drift;
    text +=
        fmt::format("; first over {} {}: {}{}", show_seconds(results.threshold),
                    drift.drift > 0 ? "behind" : "ahead",
                    std::abs(drift.outside) >= std::abs(drift.inside) ? "before " : "", at(drift));
  }
  return text;
}

/// The origin of the interval: "3 + 1 runs", "one run each, compute assumed to vary by 1 %".
std::string basis_of(const DiffResults& results) {
  const Slowdown& s = results.slowdown;
  std::string text = s.repeated ? fmt::format("{} + {} runs, which vary by {:.1f} %", s.runs_before,
                                              s.runs_after, 100 * s.spread)
                                : "one run each: 1 % variation of compute assumed";
  if (!results.before.has_uncertainty || !results.after.has_uncertainty)
    text += "; the platform states no uncertainty";
  if (s.lacks_cores) text += "; ranks lacked cores for too long";
  return text;
}

std::string noise_text(const DiffResults& results) {
  const Slowdown& s = results.slowdown;
  const std::string range =
      fmt::format("{} {} ({})", signed_percent(s.share, 1), half_width(s.half), basis_of(results));
  if (!results.limit)
    return fmt::format("{}: {}", s.is_certain() ? "beyond it" : "the difference may be noise",
                       range);
  const std::string limit = fmt::format("{:.4g} %", 100 * *results.limit);
  switch (gate_result(s, *results.limit)) {
    case GateResult::kPassed:
      return fmt::format("passed, at most {} slower: {}", limit, range);
    case GateResult::kFailed:
      return fmt::format("failed, more than {} slower: {}", limit, range);
    case GateResult::kUndecided:
      break;
  }
  return fmt::format("passed, but not certain to be below {}: {}", limit, range);
}

/// What would narrow the interval.
std::string more_runs(const DiffResults& results) {
  const Slowdown& s = results.slowdown;
  const double limit = results.limit.value_or(0);
  const bool runs_decide = s.half * s.half > 2 * s.other * s.other;  // the larger part
  const std::optional<size_t> runs = runs_to_decide(s, limit);
  if (s.lacks_cores) return "record again without other programs on the nodes";
  if (!s.repeated && runs_decide) return "record each side 3 times: rubato trace --runs 3";
  if (runs)
    return fmt::format("about {} runs of each side decide: rubato diff OLD... --new NEW...",
                       std::max(*runs, std::max(s.runs_before, s.runs_after) + 1));
  if (!runs_decide && (results.before.is_prediction || results.after.is_prediction))
    return "the error of the prediction is larger than the difference: compare two recordings";
  if (!runs_decide) return "record again without other programs on the nodes";
  return fmt::format("{} runs of each side would not decide: too close to {:.4g} %", kMostRuns,
                     100 * limit);
}

std::string next_text(const DiffResults& results) {
  const Slowdown& s = results.slowdown;
  const bool undecided = results.limit ? gate_result(s, *results.limit) == GateResult::kUndecided
                                       : !s.is_certain() && s.share != 0;
  if (undecided) return more_runs(results);
  const DiffSummary& d = results.summary;
  const DiffRun& run = results.after.runs[results.after.shown];
  const std::string on =
      results.after.scenario == "measured" ? "" : " --on " + shell_quoted(results.after.scenario);
  const double worst = std::max(std::abs(d.on_rank), std::abs(d.mpi));
  if (s.share > 0 && !is_small(worst, results))
    return fmt::format("rubato profile {}{}", shell_quoted(run.archive), on);
  return "the same command with --all lists all differences";
}

/// Time of recordings that is not compared; "" if there is none.
std::string losses_line(const DiffResults& results, int width) {
  double most = 0;
  for (const DiffSide* side : {&results.before, &results.after}) {
    for (const DiffRun& run : side->runs)
      if (side->without_losses) most = std::max(most, run.lost_share);
  }
  if (!(most > 0)) return "";
  const auto recorded = [](const DiffSide& side) {
    double sum = 0;
    for (const DiffRun& run : side.runs) sum += run.recorded;
    return show_seconds(sum / static_cast<double>(side.runs.size()));
  };
  return line("Cores",
              fmt::format("other programs took up to {:.1f} % of a run's time; recordings are "
                          "compared without it (undisturbed); as recorded: {} → {}",
                          100 * most, recorded(results.before), recorded(results.after)),
              width);
}

}  // namespace

std::string name_of(const DiffSide& side) {
  const std::string& archive = side.runs[side.shown].archive;
  return side.is_prediction ? fmt::format("prediction of {} on {}", archive, side.scenario)
                            : fmt::format("recording {}", archive);
}

std::string diff_lines(const DiffResults& results, int width) {
  return line("Elapsed", elapsed_text(results), width) + losses_line(results, width) +
         line("Compute", compute_text(results), width) + line("MPI", mpi_text(results), width) +
         line("Calls", calls_text(results), width) +
         line(results.limit ? "Gate" : "Noise", noise_text(results), width) +
         line("Next", next_text(results), width);
}

}  // namespace rubato
