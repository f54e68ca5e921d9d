#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// The file that libotf2 decodes in this thread, for the lifetime of this object: for a program
/// that reports it when libotf2 crashes. A library should not handle signals, so this only stores
/// it.
class NowReading {
 public:
  static constexpr uint64_t kDefinitions = UINT64_MAX;

  /// `anchor`: of the archive; must outlive this. `location`: or kDefinitions.
  explicit NowReading(const std::string& anchor, uint64_t location = kDefinitions)
      : before_(current_), anchor_(anchor.c_str()), location_(location) {
    current_ = this;
  }
  ~NowReading() { current_ = before_; }
  NowReading(const NowReading&) = delete;
  NowReading& operator=(const NowReading&) = delete;

  const char* anchor() const { return anchor_; }
  uint64_t location() const { return location_; }
  /// Of this thread, safe in signal handlers; nullptr: nothing.
  static const NowReading* current() { return current_; }

 private:
  static inline thread_local const NowReading* current_ = nullptr;

  const NowReading* before_;
  const char* anchor_;
  uint64_t location_;
};

}  // namespace rubato
