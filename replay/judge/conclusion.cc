#include "replay/judge/conclusion.h"

#include <algorithm>
#include <cmath>

#include "replay/analyse/other_rows.h"
#include "replay/judge/lost_cores.h"
#include "replay/judge/notes.h"

namespace rubato {
namespace {

constexpr double kMostUnexplained = 0.1;  ///< deviation of the own machine's model from the
                                          ///< recorded time, beyond which it is not trusted
constexpr double kLeastCause = 0.001;     ///< of the elapsed time
constexpr double kLeastMissed = 0.02;     ///< likewise, that is named
constexpr double kLeastPart = 0.005;      ///< likewise, of a gain

/// What models are compared with: they know nothing of lost cores.
const ScenarioResult& recorded(const Roles& roles) {
  return lost_cores(roles) && roles.undisturbed ? *roles.undisturbed : *roles.measured;
}

/// True if the model of the archive's own machine misses the recorded time.
bool misses(const Roles& roles) {
  return roles.own_machine &&
         std::abs(roles.own_machine->elapsed / recorded(roles).elapsed - 1) > kMostUnexplained;
}

/// Possible causes of the difference between a model and recorded times.
std::vector<Conclusion::Part> possible_causes(const Roles& roles, const ScenarioResult& measured) {
  const TraceSummary& trace = roles.results->trace;
  std::vector<Conclusion::Part> parts;
  const auto add = [&](Conclusion::Part::Kind kind, double seconds) {
    if (seconds > kLeastCause * measured.elapsed) parts.push_back({kind, seconds});
  };
  add(Conclusion::Part::Kind::kLostCores, mean(measured.ranks, &RankResult::lost_core));
  add(Conclusion::Part::Kind::kFlushing, mean(measured.ranks, &RankResult::flushing));
  double kept = 0;
  for (const KeptCall& call : trace.kept) kept += call.time;
  add(Conclusion::Part::Kind::kKeptCalls,
      kept / static_cast<double>(std::max<size_t>(1, measured.ranks.size())));
  if (trace.clock_repair)
    add(Conclusion::Part::Kind::kClockErrors, trace.clock_repair->largest_shift);
  if (trace.shared_cores) parts.push_back({Conclusion::Part::Kind::kSharedCores});
  return parts;
}

/// Time that only `measured` contains.
std::vector<Conclusion::Part> only_recorded(const Roles& roles) {
  const ScenarioResult& measured = *roles.measured;
  const double lost = mean(measured.ranks, &RankResult::lost_core);
  const double least = kLeastPart * measured.elapsed;
  std::vector<Conclusion::Part> parts;
  if (roles.undisturbed) {
    parts.push_back({lost >= least ? Conclusion::Part::Kind::kTracingAndLostCores
                                   : Conclusion::Part::Kind::kTracing,
                     measured.elapsed - roles.undisturbed->elapsed});
  } else {
    parts = {{Conclusion::Part::Kind::kFlushing, mean(measured.ranks, &RankResult::flushing)},
             {Conclusion::Part::Kind::kLostCores, lost}};
  }
  std::erase_if(parts, [&](const Conclusion::Part& part) { return !(part.seconds >= least); });
  return parts;
}

}  // namespace

bool is_unexplained(const Roles& roles) {
  return roles.measured &&
         (misses(roles) || lacks_cores(roles) || has_unsynchronised_clocks(roles.results->trace));
}

Conclusion conclude(const Roles& roles) {
  Conclusion found;
  if (!roles.measured || !(roles.measured->elapsed > 0)) return found;
  found.own_machine = roles.own_machine;
  found.recorded = recorded(roles).elapsed;
  found.without_losses = &recorded(roles) == roles.undisturbed;
  for (const ModelError& error : model_errors(roles)) {
    // (Losses are possible causes, below.)
    const bool is_of_model = error.part == "compute" || error.part.starts_with("MPI_");
    const bool much = std::abs(error.difference()) >= kLeastMissed * found.recorded;
    if (is_of_model && much && !found.missed) found.missed = error;
  }
  found.window = mean_window(roles.measured->ranks);
  found.parts = possible_causes(roles, recorded(roles));
  const auto because = [&](ConclusionKind kind) {
    found.kind = kind;
    return found;
  };
  const bool removed = roles.undisturbed && lacks_cores(roles);  // lost time, not exactly
  if (misses(roles) && !removed) return because(ConclusionKind::kUnexplained);
  if (!roles.perfect || is_alone(*roles.results)) return found;
  if (has_unsynchronised_clocks(roles.results->trace)) return because(ConclusionKind::kClocks);
  if (lacks_cores(roles)) {
    found.parts = possible_causes(roles, *roles.measured);
    if (!roles.results->trace.shared_cores && !lost_cores(roles))
      found.implausible = implausible_cost(roles);
    return because(ConclusionKind::kLacksCores);
  }
  // Time lost to other programs is not saved by a better network.
  const bool lost = lost_cores(roles);
  const ScenarioResult& run = lost ? *roles.undisturbed : *roles.measured;
  found.not_recorded = mean(roles.measured->ranks, &RankResult::not_recorded);
  found.elapsed = run.elapsed - found.not_recorded;
  found.on_perfect = std::max(0.0, roles.perfect->elapsed - found.not_recorded);
  if (!(found.elapsed > 0)) return found;
  found.parts = lost ? std::vector<Conclusion::Part>{} : only_recorded(roles);
  if (lost) found.lost_share = lost_share(roles);
  const double gain = 1 - found.on_perfect / found.elapsed;
  return because(gain < kLeastPart ? ConclusionKind::kNoGain : ConclusionKind::kGain);
}

}  // namespace rubato
