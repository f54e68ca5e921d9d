#pragma once

#include <string>
#include <vector>

#include "tools/files/sample_file.h"

namespace rubato {

/// The content of one file of another benchmark.
struct ForeignSamples {
  std::string benchmark;        ///< "OSU", "IMB" or "NetPIPE"
  std::vector<SampleRow> rows;  ///< without level and launch; see read_foreign_samples()
};

/// Reads text output of the OSU micro-benchmarks (osu_latency, osu_multi_lat, osu_bw and blocking
/// collectives; versions 2 to 7, also MVAPICH's and with srun's labels), of the Intel MPI
/// Benchmarks (PingPong, PingPing, Sendrecv, Exchange and collectives) or of NetPIPE (its output,
/// and np.out). Lines between the tables are skipped.
///
/// Times become seconds. Patterns: `pingpong` (half a round trip), `window` (osu_bw: `window`
/// messages at once and a short answer), `sendrecv`, `pingping`, `exchange`, and the operation's
/// name for collectives. Their `processes` are set if the output states them (IMB's), their bytes
/// are the payload of share/doc/platform-files.md. Errors: InputError with file and line for a row
/// that does not parse, and for a file without a table.
ForeignSamples read_foreign_samples(const std::string& file, int window);

/// Turns the rows of one level into rows for `rubato fit`: windows become `burst` and `single`
/// (calibrate's patterns), which needs ping-pong times; a Sendrecv is taken as transfer time only
/// without a ping-pong.
std::vector<SampleRow> as_calibrated(std::vector<SampleRow> rows);

}  // namespace rubato
