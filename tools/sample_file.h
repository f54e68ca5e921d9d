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

/// Reads the ping-pong samples of a CSV file (share/doc/calibrating.md describes its columns).
/// Columns are found by their names in the header, unknown ones are skipped, and so are rows of
/// other probes and rows that do not parse: samples are shown, never computed with. A file without
/// the columns level, bytes and seconds gives none.
std::vector<Sample> read_samples(const std::string& file);

}  // namespace rubato
