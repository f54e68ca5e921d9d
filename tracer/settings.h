#pragma once

#include <cstdint>
#include <string>

/// What `rubato trace` tells the tracer, through the environment.
namespace rubato {

struct Settings {
  std::string output;                   ///< RUBATO_TRACE_OUTPUT: directory of the archive
  uint64_t memory = uint64_t{1} << 30;  ///< RUBATO_TRACE_MEMORY: bytes of records per process
  bool monotonic_clock = false;         ///< RUBATO_TRACE_CLOCK=monotonic
  bool clock_per_rank = false;          ///< RUBATO_TRACE_CLOCK_DOMAIN=rank, not one per node
  double sync_every = 0;                ///< RUBATO_TRACE_SYNC_EVERY: seconds, 0 = never

  static Settings from_environment();
};

/// This process's command line, blanks between the words.
std::string command_line();

/// One line on standard error, "rubato: ..."; nothing where it is closed.
void warn(const std::string& message);

}  // namespace rubato
