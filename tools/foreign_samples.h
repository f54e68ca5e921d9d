#pragma once

#include <string>
#include <vector>

#include "tools/sample_file.h"

namespace rubato {

/// What one file of another benchmark says.
struct ForeignSamples {
  std::string benchmark;        ///< "OSU", "IMB" or "NetPIPE"
  std::vector<SampleRow> rows;  ///< without level and launch; see read_foreign_samples()
};

/// Reads text output of the OSU micro-benchmarks (osu_latency, osu_multi_lat, osu_bw and blocking
/// collectives; versions 2 to 7, also MVAPICH's and with srun's labels), of the Intel MPI
/// Benchmarks (PingPong, PingPing, Sendrecv, Exchange and collectives) or of NetPIPE (what it
/// prints, and np.out). Lines between the tables are passed over.
///
/// Times become seconds. Patterns: `pingpong` (half a round trip), `window` (osu_bw: `window`
/// messages at once and a short answer), `sendrecv`, `pingping`, `exchange`, and the operation's
/// name for collectives, whose number of processes stands in `processes` where the output tells it
/// (IMB's), and whose bytes are the payload of share/doc/platform-files.md.
/// Errors: InputError with file and line for a row that does not parse, and for a file in which
/// there is no table.
ForeignSamples read_foreign_samples(const std::string& file, int window);

/// Makes of the rows of one level what `rubato fit` reads: windows become `burst` and `single`
/// (calibrate's patterns) with the help of the ping-pong; a Sendrecv counts only where there is no
/// ping-pong.
std::vector<SampleRow> as_calibrated(std::vector<SampleRow> rows);

}  // namespace rubato
