#pragma once

#include <string>

#include "models/scenario/scenario.h"
#include "replay/study/advice.h"

namespace rubato {

/// The subject of an advice report.
struct AdviceSubject {
  const Scenario* scenario = nullptr;
  size_t most = 0;          ///< maximum number of functions evaluated
  std::string hosts_file;   ///< as used in scenarios
  bool hosts_here = false;  ///< the hosts file is written with this report
  /// The scenario was chosen in place of `measured`, because ranks lost their cores.
  bool without_losses = false;
  /// Why no saving is known, in the words of `rubato replay`; "": savings are known.
  std::string unknown = {};
};

/// A shell command that replays the scenario and the candidate. For a placement whose hosts file is
/// not written with this report, it writes that file first.
std::string advice_command(const Advice& advice, const TriedCandidate& tried,
                           const AdviceSubject& subject);

/// The largest saving in a sentence, a row for each candidate that saves 1 %, remarks on the
/// others, and the commands.
std::string advice_text(const Advice& advice, const AdviceSubject& subject, int width);

/// All results in JSON (share/doc/json.md, *rubato advise --json*) and as CSV with a row per
/// candidate.
std::string advice_json(const Advice& advice, const AdviceSubject& subject);
std::string advice_csv(const Advice& advice, const AdviceSubject& subject);

/// The hosts file, a line per rank; a comment if no other placement is better.
std::string advice_hosts(const Advice& advice);

}  // namespace rubato
