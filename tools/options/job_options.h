#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "replay/run/replay_options.h"

namespace rubato {

/// Parses "other.otf2dir@nodes=64-127,start=2s,ppn=4"; the source is not opened. An '@' without a
/// later '=' is part of the name. Errors: UsageError.
OtherJob parse_other_job(const std::string& text);

/// The jobs of all --with, with open sources, read with `options`. Errors: UsageError, also for
/// options that cannot be combined; InputError if an archive cannot be opened.
std::vector<OtherJob> other_jobs(const boost::program_options::variables_map& values,
                                 const ReplayOptions& options);

/// Prints a notice on stderr if other jobs had no effect in any scenario.
void notice_unfelt_jobs(const Results& results);

}  // namespace rubato
