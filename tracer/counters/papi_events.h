#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato {
inline namespace tracing {

/// Counts events of the calling thread by PAPI. PAPI is loaded when it is first needed, and neither
/// its headers nor its library are needed to build Rubato.
class PapiCounters {
 public:
  /// "", or why PAPI cannot be used. Call it first, on one thread.
  static std::string load();

  /// "", or why these events cannot be counted: the first that is refused, and PAPI's reason.
  std::string open(const std::vector<std::string>& events);
  void close();
  bool is_open() const { return is_open_; }
  /// The numbers counted since open(); false on an error.
  bool read(uint64_t* values);

 private:
  int set_ = -1;
  bool is_open_ = false;
};

}  // namespace tracing
}  // namespace rubato
