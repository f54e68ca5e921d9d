#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/fit/level_fit.h"
#include "models/fit/load_fit.h"
#include "models/fit/network_fit.h"
#include "tools/files/sample_file.h"

namespace rubato {

/// One row per launch out of rows that timed the same. For a launch with several rows: their
/// medians, in `seconds`, `median` (if all have one) and the halves.
std::vector<SampleRow> one_per_launch(const std::vector<SampleRow>& rows);

/// The statistic of loops used when the samples were taken, from the file itself; older files: the
/// least.
OfLoops counted_of_loops(const SampleFile& samples);

/// The samples of each level in a file, ready to be fitted. Of several launches the median counts,
/// the most likely result of another one, and the halves are those of the launches: the first,
/// third, ... and the others. Patterns without a curve are skipped. Errors: InputError that begins
/// with `name` for an unknown level, and for a row without a median where medians count.
std::map<Level, LevelSamples> sampled_levels(const SampleFile& samples, const std::string& name,
                                             OfLoops of_loops = OfLoops::kLeast);

/// The samples of several pairs at once (patterns "pairs_1", "pairs_2", ...), for note_load(). With
/// several launches the median counts. Errors: as sampled_levels().
std::map<Level, std::vector<LoadedTime>> loaded_times(const SampleFile& samples,
                                                      const std::string& name,
                                                      OfLoops of_loops = OfLoops::kLeast);

/// What shifts took (models/fit/network_fit.h).
ShiftTimes shift_times(const SampleFile& samples, const std::string& name, OfLoops of_loops);

/// The share of the time of ping-pongs between ranks that their best loops would not have taken:
/// the median over lengths of 1 - least / average. 0 where the file has no averages.
double lost_of_messages(const SampleFile& samples);

/// Number of rows whose pattern has no fit.
size_t rows_of_no_use(const SampleFile& samples);

}  // namespace rubato
