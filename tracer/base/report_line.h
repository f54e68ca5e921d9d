#pragma once

#include <cstdint>
#include <string>

namespace rubato {
inline namespace tracing {

/// Contents of the line at the end of a traced run.
struct RunReport {
  std::string archive;  ///< directory, as a path that holds everywhere
  int ranks = 1;
  double seconds = 0;  ///< from MPI_Init to MPI_Finalize
  uint64_t calls = 0;  ///< MPI calls on record, of all ranks
  uint64_t bytes = 0;  ///< size of the archive
  std::string early;   ///< why recording stopped before; empty: it did not
};

/// "wrote run.otf2dir (4 ranks, 12.3 s, 1,234,567 MPI calls, 12 MiB); next: rubato replay ...". The
/// archive is named as seen from `directory`, where that holds it.
std::string report_line(const RunReport& report, const std::string& directory);

/// A path as seen from `directory`, where that holds it.
std::string seen_from(const std::string& directory, std::string path);

/// A word that a shell takes for what it is: in quotes where it needs them.
std::string shell_word(const std::string& word);

/// 1234567 as "1,234,567".
std::string in_thousands(uint64_t number);
/// Three digits: "0.0123 s", "12.3 s", "1234 s".
std::string seconds_text(double seconds);

}  // namespace tracing
}  // namespace rubato
