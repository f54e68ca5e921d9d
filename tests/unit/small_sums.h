// A file of sums, by hand (share/doc/schemas/sums.schema.json): two ranks from 10 to 11 s and
// from 10.25 to 11.25 s. Rank 0 sends 5 messages of 3 bytes to rank 1, which waits 0.125 s for
// them, and reads 7 bytes from its memory. Recording took 5 * 12.5 ms of the compute of either.
#pragma once

#include <string>

#include "tools/version.h"

namespace rubato {

inline std::string small_sums() {
  return R"({"kind": "rubato sums", "format": 1, "rubato": ")" + std::string(kVersion) +
         R"(", "units": {"times": "s", "sizes": "B"}, "command": "./app <\"in.txt\"", )"
         R"("mpi_library": "Open MPI", "summary": "2 ranks, elapsed 1.25 s", "elapsed": 1.25, )"
         R"("call_sites": false, "waits_known": true, "sampled_one_of": 1, "steps_one_of": 0, "ranks": [
 {"rank": 0, "threads": 1, "node": 0, "compute": 0.75, "overhead": 0.0625, "flushing": 0, "not_recorded": 0, "lost_core": 0, )"
         R"("before": 0, "after": 0.25, "stopped": false, )"
         R"("left_out": {"pairs": 0, "messages": 0, "requests": 0, "sizes": 0}, "calls": [)"
         R"({"call": "MPI_Send", "calls": 5, "calls_timed": 5, "time": 0.25, "time_min": 0.01, )"
         R"("time_max": 0.1, "outside": 0, "bytes_completed": 0, )"
         R"("waits": {"late_sender": 0, "late_receiver": 0, "collective_wait": 0}, )"
         R"("sizes": [{"size": 2, "sends": 5, "bytes_sent": 15, "receives": 0, )"
         R"("bytes_received": 0}]}, )"
         R"({"call": "MPI_Get", "calls": 1, "calls_timed": 0, "time": 0, "time_min": 0, )"
         R"("time_max": 0, "outside": 0, "bytes_completed": 0, "waits": null, )"
         R"("sizes": [{"size": 4, "sends": 0, "bytes_sent": 0, "receives": 1, )"
         R"("bytes_received": 7}]}], )"
         R"("peers": [{"peer": 1, "size": 15, "requests": 5, "time": 0}]},
 {"rank": 1, "threads": 1, "node": 0, "compute": 0.4375, "overhead": 0.0625, "flushing": 0, "not_recorded": 0, "lost_core": 0, )"
         R"("before": 0.25, "after": 0, "stopped": false, )"
         R"("left_out": {"pairs": 0, "messages": 0, "requests": 0, "sizes": 0}, "calls": [)"
         R"({"call": "MPI_Recv", "calls": 5, "calls_timed": 5, "time": 0.5, "time_min": 0.0625, )"
         R"("time_max": 0.25, "outside": 0, "bytes_completed": 15, )"
         R"("waits": {"late_sender": 0.125, "late_receiver": 0, "collective_wait": 0}, )"
         R"("sizes": [{"size": 2, "sends": 0, "bytes_sent": 0, "receives": 5, )"
         R"("bytes_received": 15}]}], )"
         R"("peers": [{"peer": 0, "size": 7, "requests": 1, "time": 0.5}]}
]}
)";
}

}  // namespace rubato
