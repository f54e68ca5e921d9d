#pragma once

#include <string>

namespace rubato {

/// Quantities with units in platform files and scenarios. Every number but 0 needs a unit, so that
/// "5" is never read as five seconds by accident. Errors: InputError with the text and the known
/// units, or the range: a million seconds, 2^60 bytes, 1 B/s.

/// "1.3us", "250ns", "0.5 ms", "2s", also "1.3µs" and "1.3usec" -> seconds. May be negative (an
/// intercept of a fitted segment).
double parse_seconds(const std::string& text);

/// "64KiB", "4MB", "8B" -> bytes. KiB, MiB, GiB are powers of 1024; kB, MB, GB of 1000.
double parse_bytes(const std::string& text);

/// "12.5GB/s", "100Gbit/s", "inf" -> bytes per second. Greater than 0.
double parse_bandwidth(const std::string& text);

/// The shortest readable text that parses back to this many significant digits: "1.3us", "64KiB",
/// "12.5GB/s".
std::string format_seconds(double seconds, int digits = 6);
std::string format_bytes(double bytes);
/// The same for sentences: "64 KiB".
std::string spaced_bytes(double bytes);
std::string format_bandwidth(double bytes_per_second, int digits = 6);

/// Three significant digits, for tables: 1.2345 -> 1.23.
double brief(double value);
/// Quantities with three digits: "1.23us". Seconds are 0 below a picosecond, bytes are rounded to
/// whole ones.
std::string brief_seconds(double seconds);
std::string brief_bytes(double bytes);
std::string brief_bandwidth(double bytes_per_second);
/// The bandwidth of a line that grows by `per_byte` seconds per byte; "inf" if it does not grow.
std::string brief_bandwidth_of_slope(double per_byte);

}  // namespace rubato
