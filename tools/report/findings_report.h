#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/judge/diagnosis.h"
#include "replay/judge/findings.h"

namespace rubato {

/// A finding in words.
struct ToldFinding {
  Finding finding;
  double share = 0;     ///< of its cost: of the elapsed time, with lost cores in that of `measured`
  std::string text;     ///< finding_text()
  std::string command;  ///< a Rubato command to investigate it; "" if there is none
};

/// The findings of a run, the same in `replay`, `profile`, `advise` and on the page.
struct ToldFindings {
  ToldFindings() = default;
  ToldFindings(const Judgement& judgement, const Roles& roles);

  bool known = false;             ///< the run can be judged
  bool messages_known = true;     ///< else ranks lacked cores, and messages are not in the list
  double elapsed = 0;             ///< that costs refer to
  std::string of;                 ///< the scenario with that elapsed time
  std::vector<ToldFinding> list;  ///< the costliest first
  /// What the network costs on `platform`, a scenario, as parts of `platform_elapsed`.
  std::vector<ToldFinding> on_platform;
  std::string platform;
  double platform_elapsed = 0;
};

/// The findings of `run`.
ToldFindings told_findings(const JudgedRun& run);

inline constexpr size_t kFindingsShown = 5;  ///< without --all
/// A line for each of the first `most` findings, and their commands; "" if the run cannot be
/// judged.
std::string findings_text(const ToldFindings& findings, size_t most, int width);

/// Array of objects (share/doc/json.md, `findings`).
nlohmann::ordered_json findings_to_json(const ToldFindings& findings);

}  // namespace rubato
