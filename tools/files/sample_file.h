#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/fit/timed_length.h"

namespace rubato {

/// One measured message time: a row of the file of samples that `rubato calibrate` writes beside a
/// platform file.
struct Sample {
  std::string level;
  double bytes = 0;
  double seconds = 0;  ///< one way: half a round trip
};

/// Reads the message times in a CSV file of `rubato calibrate`: the columns level, bytes and
/// `column` (seconds_min, or the statistic of the fit) of the patterns pingpong and sendrecv.
/// Columns are found by their names in the header. Rows that do not parse are skipped: these
/// samples are shown, never computed with. A file without these columns gives none.
std::vector<Sample> read_samples(const std::string& file,
                                 const std::string& column = "seconds_min");

/// A row of such a file, for computations.
struct SampleRow {
  std::string level;
  std::string pattern;
  double bytes = 0;
  double seconds = 0;  ///< of the column that was asked for; 0 where the row says no time
  /// Counted from 1 in the order of the file. Each header starts a new launch, so that files can be
  /// strung together; so does each number in the column `launch`, where there is one.
  int launch = 1;
  int messages = 1;
  double half[2] = {0, 0};         ///< seconds_min_even and _odd; 0 where the file does not say
  double median_half[2] = {0, 0};  ///< seconds_median_even and _odd; likewise
  int processes = 0;               ///< of a collective operation; 0: between two ranks
  double median = 0;               ///< seconds_median; 0 where the file does not say
  double average = 0;              ///< seconds_avg; likewise
  double interval = 0;             ///< half its confidence interval over its mean; 0 likewise
};

/// Name in tables: "node pingpong", "node bcast p=4".
std::string operation_of(const SampleRow& row);

/// The time that represents a launch: for a collective the median of its observations (ReproMPI,
/// Algorithm 3), for messages the statistic of their loops; `seconds` if a row has no median.
double seconds_of_launch(const SampleRow& row, OfLoops of_loops);

/// A file of samples.
struct SampleFile {
  std::vector<SampleRow> rows;  ///< those with a time
  /// Rows without a time: the lengths between which a protocol changes ("eager", "waiting"), the
  /// payload from which on the members of a collective hold each other ("held bcast").
  std::vector<SampleRow> probes;
  std::map<std::string, std::string> measured;  ///< from comments like "# mpi: Open MPI 4.1.4"
};

/// Reads a file of samples with the times of `column` ("seconds_min"). Errors: InputError with file
/// and line for a file without the columns level, pattern, bytes and `column`, for a row that does
/// not parse, and for a file without times.
SampleFile read_sample_file(const std::string& file, const std::string& column);

}  // namespace rubato
