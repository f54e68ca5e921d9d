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

/// "12.3 MiB", "512 B", "4 KiB": no decimals for whole numbers.
std::string show_bytes(double bytes);

/// "11.75 GB/s", "118.0 MB/s": four significant digits, powers of 1000.
std::string show_rate(double bytes_per_second);

/// "1,234,567".
std::string show_count(uint64_t count);

/// "1 call", "1,234 calls".
std::string counted(uint64_t count, const std::string& one, const std::string& many);

/// "28.8 %"; "0 %" if `part` or `whole` is 0, "<0.1 %" if the share rounds to 0.
std::string show_share(double part, double whole);

/// One unit and one number of decimals for all values of a column, so that they can be compared at
/// a glance.
struct Unit {
  double scale = 1;  ///< multiply seconds, or bytes, by this
  const char* name = "s";
  int decimals = 4;

  std::string show(double value) const;  ///< without the unit; "-0.0" is "0.0"
};
using TimeUnit = Unit;

/// The unit in which the largest of `seconds` reads well, or a smaller one in which the smallest
/// that is not zero has two digits. Decimals for four significant digits of the smallest, at most
/// four of them.
TimeUnit common_unit(const std::vector<double>& seconds);

/// The same for bytes: the largest unit in which the smallest that is not zero is at least 1.
Unit common_bytes(const std::vector<double>& bytes);

/// The same for bytes per second, in powers of 1000, as bandwidths in platform files.
Unit common_rate(const std::vector<double>& rates);

/// `part` as a percentage of `whole`: "12.3 %"; "0.0 %" if `whole` is not above 0.
std::string percent_of(double part, double whole);

/// The same with its sign: "+12.3 %", "-4.0 %"; "0.0 %" if it rounds to 0.
std::string signed_percent(double part, double whole);

}  // namespace rubato
