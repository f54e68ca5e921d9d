#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/fit/level_fit.h"
#include "models/fit/load_fit.h"
#include "tools/sample_file.h"

namespace rubato {

/// One row for each launch of rows that timed the same: of a launch with several the median, which
/// then stands in `seconds`, `median` (where all have one) and, likewise, the halves.
std::vector<SampleRow> one_per_launch(const std::vector<SampleRow>& rows);

/// What counts of several launches.
enum class OfLaunches : uint8_t {
  kMedian,  ///< what the next launch will most likely find
  kLeast,   ///< what the machine can do where others disturb it in some of the launches
};

/// What counts of the loops of a launch, and of several launches.
struct Counting {
  OfLoops of_loops = OfLoops::kLeast;
  OfLaunches of_launches = OfLaunches::kMedian;
};

/// What counted of the loops when the samples were taken, as they say themselves; files of older
/// versions: the least.
OfLoops counted_of_loops(const SampleFile& samples);

/// What a file of samples says about each level, ready to be fitted. Of several launches halves are
/// those of the launches: the first, third, ... and the others. Patterns that no curve is made of
/// are passed over. Errors: InputError that begins with `name` for an unknown level, and for a row
/// without a median where medians count.
std::map<Level, LevelSamples> sampled_levels(const SampleFile& samples, const std::string& name,
                                             Counting counting = {});

/// What it says of several pairs at once (patterns "pairs_1", "pairs_2", ...), for note_load(). Of
/// several launches the median counts. Errors: as sampled_levels().
std::map<Level, std::vector<LoadedTime>> loaded_times(const SampleFile& samples,
                                                      const std::string& name,
                                                      OfLoops of_loops = OfLoops::kLeast);

/// How many rows have a pattern that nothing is fitted to.
size_t rows_of_no_use(const SampleFile& samples);

}  // namespace rubato
