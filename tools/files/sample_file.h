#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/fit/timed_length.h"

namespace rubato {

/// One measured message time: a row of the sample file that `rubato calibrate` writes next to a
/// platform file.
struct Sample {
  std::string level;
  double bytes = 0;
  double seconds = 0;  ///< one way: half a round trip
};

/// Reads the message times in a CSV file of `rubato calibrate`: the columns level, bytes and
/// `column` (seconds_min, or the statistic of the fit) of the patterns pingpong and sendrecv.
/// Columns are found by their names in the header. Rows that do not parse are skipped, because
/// these samples are only shown. A file without these columns yields none.
std::vector<Sample> read_samples(const std::string& file,
                                 const std::string& column = "seconds_min");

/// A row of such a file, for computations.
struct SampleRow {
  std::string level;
  std::string pattern;
  double bytes = 0;
  double seconds = 0;  ///< of the requested column; 0 if the row has no time Counted from 1 in the
                       ///< order of the file. Each header starts a new launch, so that files can be
                       ///< concatenated; so does each new value in the column `launch`, if present.
  int launch = 1;
  int messages = 1;
  double half[2] = {0, 0};         ///< seconds_min_even and _odd; 0 if absent
  double median_half[2] = {0, 0};  ///< seconds_median_even and _odd; 0 if absent
  int processes = 0;               ///< of a collective operation; 0: between two ranks
  double median = 0;               ///< seconds_median; 0 if absent
  double average = 0;              ///< seconds_avg; 0 if absent
  double interval = 0;             ///< half the confidence interval relative to the mean; 0 if
                                   ///< absent
};

/// Name in tables: "node pingpong", "node bcast p=4".
std::string operation_of(const SampleRow& row);

/// The time that represents a launch: for collectives the median of the observations (ReproMPI,
/// Algorithm 3), for messages the statistic `of_loops`; `seconds` if a row has no median.
double seconds_of_launch(const SampleRow& row, OfLoops of_loops);

/// A file of samples.
struct SampleFile {
  std::vector<SampleRow> rows;  ///< rows with a time Rows without a time: the lengths between which
                                ///< a protocol changes ("eager", "waiting"), the payload from which
                                ///< members of a collective synchronise ("held bcast").
  std::vector<SampleRow> probes;
  std::map<std::string, std::string> measured;  ///< from comments like "# mpi: Open MPI 4.1.4"
};

/// Reads a file of samples with the times of `column` ("seconds_min"). Errors: InputError with file
/// and line for a file without the columns level, pattern, bytes and `column`, for a row that does
/// not parse, and for a file without times.
SampleFile read_sample_file(const std::string& file, const std::string& column);

}  // namespace rubato
