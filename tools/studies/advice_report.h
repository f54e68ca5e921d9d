#pragma once

#include <string>

#include "models/scenario/scenario.h"
#include "replay/study/advice.h"

namespace rubato {

/// What is the same for all of a report.
struct AdviceSubject {
  const Scenario* scenario = nullptr;
  size_t most = 0;          ///< functions, and ranks, that were tried at most
  std::string hosts_file;   ///< as in the texts of scenarios
  bool hosts_here = false;  ///< it is written with this report
};

/// A command that replays the scenario and the candidate, for a shell; with a placement whose file
/// is not written with this report, one that writes it first.
std::string advice_command(const Advice& advice, const TriedCandidate& tried,
                           const AdviceSubject& subject);

/// The largest saving in a sentence, a row for each candidate that saves 1 %, what saves less, and
/// the commands.
std::string advice_text(const Advice& advice, const AdviceSubject& subject, int width);

/// All of it for programs: share/doc/json.md, *rubato advise --json*, and a row a candidate.
std::string advice_json(const Advice& advice, const AdviceSubject& subject);
std::string advice_csv(const Advice& advice, const AdviceSubject& subject);

/// The file of hosts, a rank a line; a comment where no other placement is better.
std::string advice_hosts(const Advice& advice);

}  // namespace rubato
