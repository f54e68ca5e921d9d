#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/judge/findings.h"

namespace rubato {

inline constexpr size_t kFindingsShown = 5;  ///< without --all
/// A line for each of the first `most` findings on `results`, and their commands, the same in
/// `replay`, `profile`, `advise` and on the page; "" if the run cannot be judged.
std::string findings_text(const Judgement& judgement, const Results& results, size_t most,
                          int width);

/// Array of objects (share/doc/json.md, `findings`).
nlohmann::ordered_json findings_to_json(const Judgement& judgement, const Results& results);

/// Why a recording allows no conclusion about the network, in the words of `rubato replay --on
/// SCENARIO`, which it replays; "" if it does. Errors: as run_replay().
std::string no_conclusion(EventSource& source, const ReplayOptions& options,
                          const Scenario& scenario);

}  // namespace rubato
