#pragma once

#include <string>
#include <vector>

namespace rubato {

/// One measured message time: a row of the file of samples that `rubato calibrate` writes beside a
/// platform file.
struct Sample {
  std::string level;
  double bytes = 0;
  double seconds = 0;  ///< one way: half a round trip
};

/// Reads the message times in a CSV file of `rubato calibrate`: the columns level, bytes and
/// seconds_min (the minimum that the curve is fitted to) of the patterns pingpong and sendrecv.
/// Columns are found by their names in the header, whatever their order. Rows that do not parse are
/// skipped: samples are shown, never computed with. A file without these columns gives none.
std::vector<Sample> read_samples(const std::string& file);

}  // namespace rubato
