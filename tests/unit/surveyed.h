#pragma once

#include "replay/replay.h"
#include "replay/survey.h"

namespace rubato {

/// What the first pass over a recording finds out; `outcome`, where it is given, is that pass's.
inline Survey surveyed(EventSource& source, const Placement& placement, const EagerLimits& limits,
                       const LockOrder* locks = nullptr, ReplayOutcome* outcome = nullptr) {
  Survey survey;
  SurveyRules rules(survey, placement, limits, source.definitions());
  const ReplayOutcome said = Replay<SurveyRules>(source, rules, {}, {}, locks).run();
  if (outcome) *outcome = said;
  survey.finish();
  return survey;
}

}  // namespace rubato
