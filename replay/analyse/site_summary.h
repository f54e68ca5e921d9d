#pragma once

// The calls of each call site or call path, and the samples of functions, by name and in seconds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/observe/site_profile.h"

namespace rubato {

/// One row of mpiP's table. Seconds; bytes sent and received.
struct SiteRow {
  std::string call;
  /// Outermost first: "main (app.c:28)", ..., "exchange (app.c:17)"; only "app.c:17" if call sites
  /// without paths are recorded, or the function alone; empty if this call has none.
  std::vector<std::string> path;
  std::string function;  ///< place of the function that makes the call; "": not recorded
  uint64_t count = 0;
  int ranks = 0;                         ///< that make the call
  double time = 0, least = 0, most = 0;  ///< of all; the shortest, the longest call
  /// The sums of the ranks that make the call with the least and the most time; none: not known.
  std::optional<double> rank_least = {}, rank_most = {};
  double waits = 0;
  uint64_t messages = 0, bytes = 0, smallest = 0, largest = 0;
  uint64_t sent = 0, bytes_sent = 0;  ///< of these messages

  double mean() const { return count > 0 ? time / static_cast<double>(count) : 0; }
};

/// As SiteRow::path, of a call at `site` that `function` makes.
std::vector<std::string> path_of(uint32_t site, uint32_t function,
                                 const std::vector<CallSite>& sites,
                                 const std::vector<FunctionName>& functions);

/// Compute of all ranks in one function, from samples of the recorded run.
struct SampledFunction {
  std::string name;
  std::string place;                         ///< "solve (app.c:41)"
  std::vector<double> exclusive, inclusive;  ///< seconds by rank
  uint64_t exclusive_samples = 0, inclusive_samples = 0;

  double exclusive_sum() const;
};

/// The most time first; empty if neither call sites nor functions are recorded.
std::vector<SiteRow> site_rows(const SiteProfile& seen, const EventSource& source);

/// The most exclusive time first; empty without samples.
std::vector<SampledFunction> sampled_functions(const EventSource& source);

}  // namespace rubato
