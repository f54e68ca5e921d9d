#pragma once

#include <limits>
#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// The LogGPS model: LogGP (Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: Incorporating Long
/// Messages into the LogP Model", 1995) plus the length above which messages are synchronous (Ino,
/// Fujimoto and Hagihara, "LogGPS: A Parallel Computational Model for Synchronization Analysis",
/// 2001). Seconds and bytes; P is the archive's.
struct LogGps {
  double latency = 0;   ///< L: one way
  double overhead = 0;  ///< o: of either processor for a message
  double gap = 0;       ///< g: between two messages of a rank
  double per_byte = 0;  ///< G: between two bytes of a message
  double synchronous_above = std::numeric_limits<double>::infinity();  ///< S

  /// Sets the parameter `name` of the papers: L, o, g, G (times), S (a length). Returns false for
  /// any other name. Errors: InputError if `value` is not such a quantity.
  bool set(const std::string& name, const std::string& value);
};

/// The platform, equal at all levels: o_s = o_r = o, T(n) = L + (n - 1) G, g(n) = g + (n - 1) G.
/// Above S a request and an answer, empty messages of o + L + o each, precede the data.
Platform loggps_platform(const LogGps& machine);

}  // namespace rubato
