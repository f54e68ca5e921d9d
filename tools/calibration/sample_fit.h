#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/fit/level_fit.h"
#include "models/fit/load_fit.h"
#include "models/fit/network_fit.h"
#include "tools/files/sample_file.h"

namespace rubato {

/// Combines rows of the same measurement into one per launch: the medians of `seconds`, `median`
/// (if all rows have one) and the halves.
std::vector<SampleRow> one_per_launch(const std::vector<SampleRow>& rows);

/// The statistic of loops recorded in the file; the minimum for older files.
OfLoops counted_of_loops(const SampleFile& samples);

/// The samples of each level in a file, ready for the fit. Several launches are represented by
/// their median, the most likely result of another launch; the halves are then the medians of the
/// odd and of the even launches. Patterns without a curve are skipped. Errors: InputError that
/// begins with `name` for an unknown level, and for a row without a median if medians are used.
std::map<Level, LevelSamples> sampled_levels(const SampleFile& samples, const std::string& name,
                                             OfLoops of_loops = OfLoops::kLeast);

/// The samples of concurrent pairs (patterns "pairs_1", "pairs_2", ...), for note_load(): the
/// median over launches. Errors: as sampled_levels().
std::map<Level, std::vector<LoadedTime>> loaded_times(const SampleFile& samples,
                                                      const std::string& name,
                                                      OfLoops of_loops = OfLoops::kLeast);

/// The times of shifts (models/fit/network_fit.h).
ShiftTimes shift_times(const SampleFile& samples, const std::string& name, OfLoops of_loops);

/// The times of one pattern by level and bytes: the median over launches. Errors: as
/// sampled_levels().
using LevelTimes = std::map<Level, std::map<double, double>>;
LevelTimes pattern_times(const SampleFile& samples, const std::string& name,
                         const std::string& pattern, OfLoops of_loops);

/// The number of cores of a node, if the samples tell it.
std::optional<int> cores_of_nodes(const Provenance& measured);

/// The share of the time of ping-pongs between ranks beyond that of their best loops: the median
/// over lengths of 1 - minimum / average. 0 if the file has no averages.
double lost_of_messages(const SampleFile& samples);

/// Number of rows whose pattern is not fitted.
size_t rows_of_no_use(const SampleFile& samples);

}  // namespace rubato
