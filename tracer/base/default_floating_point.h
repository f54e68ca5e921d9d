#pragma once

#include <cfenv>

namespace rubato {
inline namespace tracing {

/// While it lives, this thread computes in the default floating-point environment: no traps,
/// rounding to nearest. Then the program's is back, with its flags, as if nothing was computed. A
/// program may have traps for inexact results, which most arithmetic gives. Takes some hundred
/// nanoseconds at most: what every call runs through computes with integers instead.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&program_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&program_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t program_;
};

}  // namespace tracing
}  // namespace rubato
