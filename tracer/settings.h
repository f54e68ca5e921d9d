#pragma once

#include <cstdint>
#include <string>

/// What `rubato trace` tells the tracer, through the environment.
namespace rubato {

struct Settings {
  std::string output;                     ///< RUBATO_TRACE_OUTPUT: directory of the archive
  uint64_t memory = uint64_t{256} << 20;  ///< RUBATO_TRACE_MEMORY: bytes of records per process
  bool stop_when_full = false;            ///< RUBATO_TRACE_WHEN_FULL=stop
  std::string records;                    ///< RUBATO_TRACE_RECORDS: directory for records
  bool monotonic_clock = false;           ///< RUBATO_TRACE_CLOCK=monotonic

  static Settings from_environment();
};

/// This process's command line, blanks between the words.
std::string command_line();

/// One line on standard error, "rubato: ..."; nothing where it is closed.
void warn(const std::string& message);

}  // namespace rubato
