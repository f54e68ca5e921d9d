#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

/// How reports write numbers for people. The same rules hold in share/report/report.js.

/// "930.1 ms", "1.234 s", "12.35 µs": four significant digits in the unit that reads best.
std::string show_seconds(double seconds);

/// "31 s", "2 min": for estimates.
std::string rough_time(double seconds);

/// "12.3 MiB", "512 B".
std::string show_bytes(double bytes);

/// "1,234,567".
std::string show_count(uint64_t count);

/// "1 call", "1,234 calls".
std::string counted(uint64_t count, const std::string& one, const std::string& many);

/// "28.8 %"; "0 %" if `part` or `whole` is 0, "<0.1 %" if the share rounds to 0.
std::string show_share(double part, double whole);

/// One unit and one number of decimals for all times of a column, so that they can be compared at a
/// glance.
struct TimeUnit {
  double scale = 1;  ///< multiply seconds by this
  const char* name = "s";
  int decimals = 4;

  std::string show(double seconds) const;  ///< without the unit
};

/// The unit in which the largest of `seconds` reads well; decimals for four significant digits of
/// the smallest that is not zero, at most four of them.
TimeUnit common_unit(const std::vector<double>& seconds);

/// `part` as a percentage of `whole`: "12.3 %"; "0.0 %" if `whole` is not above 0.
std::string percent_of(double part, double whole);

}  // namespace rubato
