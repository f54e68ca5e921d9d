#include "replay/judge/findings.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

/// Half the interval of a finding's cost; none if the errors of `perfect` are not known.
std::optional<double> half_of(const Finding& finding, const Roles& roles,
                              const Intervals& intervals) {
  const auto number = static_cast<size_t>(roles.perfect - roles.results->scenarios.data());
  if (number >= intervals.size() || !intervals[number]) return {};
  const ElapsedInterval& perfect = *intervals[number];
  if (finding.kind == FindingKind::kLostCores) return perfect.losses;
  if (row_of(finding.kind).part.has_errors_of_losses)
    return std::hypot(perfect.overhead, perfect.losses);
  // A replay with balanced work has the losses and the overhead of the run that it is compared
  // with.
  const double half = finding.is_replayed ? perfect.compute : (perfect.high - perfect.low) / 2;
  return std::hypot(finding.seconds * half / roles.perfect->elapsed, finding.sampled);
}

bool is_of_compute(const Finding& finding) {
  return finding.kind == FindingKind::kLoadImbalance ||
         (finding.rank >= 0 && finding.kind != FindingKind::kLateReceiver);
}

bool is_imbalance(const Finding& finding) {
  return finding.kind == FindingKind::kLoadImbalance;
}

/// A cause costs what the run takes longer than with balanced work: of the functions on its call
/// path the one that saves most. Where balance saves nothing, a bound: for waits at least what the
/// function saves in half the time, which is what to try for unequal compute.
void apply_remedies(const std::vector<TriedCandidate>& remedies, const Roles& roles,
                    const LostTime& lost, Finding& finding) {
  std::vector<std::string> path = finding.callers;
  path.push_back(finding.function);
  double best = kLeastGain * lost.elapsed, halved = best;
  for (const TriedCandidate& tried : remedies) {
    const auto& [kind, name, text, scenario] = tried.candidate;
    const bool on_path = std::ranges::any_of(path, [&name = name](const std::string& place) {
      return !name.empty() && (place == name || place.starts_with(name + " ("));
    });
    const double saved = lost.elapsed - tried.elapsed;
    if (!tried.deadlock.empty() || !(on_path || (is_imbalance(finding) && name.empty()))) continue;
    if (kind == CandidateKind::kFunction) {
      if (finding.is_replayed || saved <= (is_imbalance(finding) ? halved : finding.seconds))
        continue;
      if (is_imbalance(finding)) {
        halved = saved;
        finding.scenarios = {text};
        continue;
      }
    } else {
      if (saved < best) continue;
      best = saved;
      finding.is_replayed = true;
      finding.scenarios = {text};
    }
    finding.seconds = saved;
    finding.is_saved = true;
    finding.sampled = half_from_samples(roles.results->functions, tried.candidate, saved);
  }
}

/// Adds a call to "MPI_Barrier" or "MPI_Bcast, MPI_Barrier and MPI_Recv", unless it is there.
void add_call(std::string& calls, const std::string& call) {
  for (size_t at = calls.find(call); at != std::string::npos; at = calls.find(call, at + 1)) {
    const size_t end = at + call.size();
    if (end == calls.size() || calls[end] == ',' || calls[end] == ' ') return;
  }
  if (const size_t before = calls.find(" and "); before != std::string::npos)
    calls.replace(before, 5, ", ");
  calls += (calls.empty() ? "" : " and ") + call;
}

/// One cause, one row: waits of which the same compute of a rank is the root, and with
/// `also_imbalance` that compute beyond the mean, which includes them.
void merge_causes(std::vector<Finding>& findings, bool also_imbalance) {
  for (auto into = findings.begin(); into != findings.end(); ++into) {
    for (auto other = into + 1; other != findings.end();) {
      const bool is_same = is_of_compute(*into) && is_of_compute(*other) &&
                           (also_imbalance || !(is_imbalance(*into) || is_imbalance(*other))) &&
                           !into->function.empty() && other->rank == into->rank &&
                           other->function == into->function && other->callers == into->callers;
      if (!is_same) {
        ++other;
        continue;
      }
      if (is_imbalance(*other)) std::swap(*into, *other);
      if (!is_imbalance(*into)) {
        into->seconds += other->seconds;  // in turn, in several calls
        into->is_saved = into->is_saved && other->is_saved;
      } else if (other->seconds > into->seconds) {
        into->seconds = other->seconds;
        into->sampled = other->sampled;
        into->is_replayed = false;
        into->is_saved = other->is_saved;
        into->scenarios = other->scenarios;
      }
      if (into->call.empty() || !is_imbalance(*into)) add_call(into->call, other->call);
      other = findings.erase(other);
    }
  }
}

}  // namespace

Judgement judge(const Roles& roles, const Diagnosis& diagnosis, const std::string& platforms,
                const Intervals& intervals) {
  Judgement judgement;
  judgement.efficiency = judged_efficiency(roles);
  judgement.is_alone = is_alone(*roles.results);
  judgement.without_mpi = roles.results->trace.mpi_calls == 0;
  if (roles.judged) judgement.scenario = roles.judged->name;
  judgement.least_elapsed = diagnosis.least_elapsed;
  if (diagnosis.network) {
    judgement.on_platform = diagnosis.network->findings;
    judgement.platform = diagnosis.network->scenario;
    judgement.platform_elapsed = diagnosis.network->elapsed;
  }
  std::optional<LostTime> lost = lost_time(roles);
  if (!lost) return judgement;
  judgement.elapsed = lost->elapsed;
  // `measured` takes what `undisturbed` takes, and what was lost.
  if ((*lost)[FindingKind::kLostCores] > 0) {
    judgement.scenario = roles.measured->name;
    judgement.elapsed = roles.measured->elapsed;
  }
  const FindingContext context{roles, diagnosis, platforms, judgement};
  std::vector<Finding>& findings = judgement.findings;
  const auto matters = [&](const Finding& f) { return f.seconds >= kLeastGain * lost->elapsed; };
  for (const FindingRow& row : kFindingRows) {
    Finding whole{row.kind, (*lost)[row.kind]};
    if (!matters(whole)) continue;
    const auto parts = diagnosis.parts.find(row.kind);
    if (row.kind == FindingKind::kChains)
      whole.kind = diagnosis.has_waits ? FindingKind::kNoPartner : FindingKind::kWaits;
    for (Finding finding : parts == diagnosis.parts.end() ? std::vector{whole} : parts->second) {
      if (!matters(finding)) continue;
      if (row.part.details) row.part.details(context, finding);
      if (is_imbalance(finding)) apply_remedies(diagnosis.remedies, roles, *lost, finding);
      findings.push_back(std::move(finding));
    }
  }
  merge_causes(findings, false);
  for (Finding& finding : findings) {
    if (is_of_compute(finding) && !is_imbalance(finding))
      apply_remedies(diagnosis.remedies, roles, *lost, finding);
  }
  merge_causes(findings, true);
  for (Finding& finding : findings) {
    finding.half = half_of(finding, roles, intervals);
    finding.of_elapsed = finding.seconds / judgement.elapsed;
  }
  sort_by_cost(findings);
  return judgement;
}

}  // namespace rubato
