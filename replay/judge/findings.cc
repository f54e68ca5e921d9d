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
  if (row_of(finding.kind).part.has_errors_of_losses)
    return std::hypot(perfect.overhead, perfect.losses);
  return finding.seconds * (perfect.high - perfect.low) / 2 / roles.perfect->elapsed;
}

}  // namespace

Judgement judge(const Roles& roles, const Diagnosis& diagnosis, const std::string& platforms,
                const Intervals& intervals) {
  Judgement judgement;
  judgement.efficiency = judged_efficiency(roles);
  judgement.is_alone = is_alone(*roles.results);
  judgement.without_mpi = roles.results->trace.mpi_calls == 0;
  if (roles.judged) judgement.scenario = roles.judged->name;
  if (diagnosis.network) {
    judgement.on_platform = diagnosis.network->findings;
    judgement.platform = diagnosis.network->scenario;
    judgement.platform_elapsed = diagnosis.network->elapsed;
  }
  std::optional<LostTime> lost = lost_time(roles);
  if (!lost) return judgement;
  judgement.elapsed = lost->elapsed;
  const FindingContext context{roles, diagnosis, platforms, judgement};
  std::vector<Finding>& findings = judgement.findings;
  const auto matters = [&](const Finding& f) { return f.seconds >= kLeastGain * lost->elapsed; };
  for (const FindingRow& row : kFindingRows) {
    const Finding whole{row.kind, (*lost)[row.kind]};
    if (!matters(whole)) continue;
    const auto parts = diagnosis.parts.find(row.kind);
    for (Finding finding : parts == diagnosis.parts.end() ? std::vector{whole} : parts->second) {
      if (!matters(finding)) continue;
      if (row.part.details) row.part.details(context, finding);
      finding.half = half_of(finding, roles, intervals);
      // `measured` takes what `undisturbed` takes, and what was lost.
      const double beside = row.part.term == &TimeTerms::beside ? finding.seconds : 0;
      finding.of_elapsed = finding.seconds / (lost->elapsed + beside);
      findings.push_back(std::move(finding));
    }
  }
  sort_by_cost(findings);
  // What the machine took comes first: it is not a property of the program.
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return row_of(finding.kind).part.term == &TimeTerms::beside;
  });
  return judgement;
}

}  // namespace rubato
