#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace rubato {
inline namespace tracing {

/// Lines of source code in the debug information of one file, read by libdw (elfutils). Where that
/// library or the debug information is missing nothing is found.
class SourceLines {
 public:
  explicit SourceLines(const std::string& file);
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  /// Addresses are relative to the file. Leaves the arguments unchanged if nothing is found.
  void find(uint64_t address, std::string& file, uint32_t& line) const;

 private:
  struct Units;
  std::unique_ptr<Units> units_;
};

}  // namespace tracing
}  // namespace rubato
