#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/judge/conclusion.h"
#include "replay/judge/findings.h"

namespace rubato {

/// "Parallel efficiency 36 % = load balance 74 % × serialisation 97 % × transfer 51 %: ..." with
/// the costliest finding. "" without factors.
std::string efficiency_line(const Judgement& judgement);

/// The conclusion in a sentence; "" for none. The prediction for the archive's own machine comes
/// first. If nothing follows about a perfect interconnect, it names the unexplained time and its
/// causes instead. The last sentence lists other time that only `measured` contains.
std::string headline(const Conclusion& conclusion);

/// The estimate beside an implausible_cost(), in a sentence; "" without one.
std::string estimate_line(const Judgement& judgement);

/// Why the recording allows no conclusion about the network, both of the above; "" unless
/// lacks_cores().
std::string no_conclusion(const Roles& roles, const Judgement& judgement);

/// Both in one short line: "Messages: at most 39 % of 2.400 ms" of the costliest finding above its
/// uncertainty, lost cores alone from a parallel efficiency of 95 % on; else that efficiency, else
/// the gain on a perfect interconnect, or why nothing follows about it. "" for none.
std::string short_answer(const Judgement& judgement, const Conclusion& conclusion);

/// ", called by assemble (app.c:23)"; of "...": ", on several call paths"; of main: "".
std::string called_by(const std::string& caller);

/// A finding without its kind and cost: "rank 1 computes 50 % longer than the mean rank, in solve".
/// Messages that the last such finding in `above` has, too, are only mentioned.
std::string finding_text(const Finding& finding, std::span<const Finding> above = {});

/// A Rubato command to investigate a finding of `results`; "" if there is none.
std::string next_command(const Finding& finding, const Results& results);

}  // namespace rubato
