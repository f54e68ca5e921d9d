#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// What this thread has libotf2 decode while it lives: for a program that wants to name it when
/// libotf2 crashes. Libraries may not answer signals, so this only remembers.
class NowReading {
 public:
  static constexpr uint64_t kDefinitions = UINT64_MAX;

  /// `anchor`: of the archive; has to stay. `location`: or kDefinitions.
  explicit NowReading(const std::string& anchor, uint64_t location = kDefinitions)
      : before_(current_), anchor_(anchor.c_str()), location_(location) {
    current_ = this;
  }
  ~NowReading() { current_ = before_; }
  NowReading(const NowReading&) = delete;
  NowReading& operator=(const NowReading&) = delete;

  const char* anchor() const { return anchor_; }
  uint64_t location() const { return location_; }
  /// Of this thread, safe in handlers of signals; nullptr: nothing.
  static const NowReading* current() { return current_; }

 private:
  static inline thread_local const NowReading* current_ = nullptr;

  const NowReading* before_;
  const char* anchor_;
  uint64_t location_;
};

}  // namespace rubato
