#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "replay/run/replay_options.h"

namespace rubato {

/// "other.otf2dir@nodes=64-127,start=2s,ppn=4", without its source. An '@' without a '=' behind it
/// belongs to the name. Errors: UsageError.
OtherJob parse_other_job(const std::string& text);

/// Those of all --with, opened; `options`: how the archive is read. Errors: UsageError, also for
/// options that do not go together; InputError where one cannot be opened.
std::vector<OtherJob> other_jobs(const boost::program_options::variables_map& values,
                                 const ReplayOptions& options);

/// Tells stderr where no scenario had a use for other jobs.
void notice_unfelt_jobs(const Results& results);

}  // namespace rubato
