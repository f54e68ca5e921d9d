#pragma once

#include <string>

#include "made_archive.h"

/// A generated archive in a temporary directory, which is removed with this object, unless
/// RUBATO_BENCH_KEEP=1; then the name is printed.
class TemporaryArchive {
 public:
  explicit TemporaryArchive(const MadeArchive& what);
  ~TemporaryArchive();
  TemporaryArchive(const TemporaryArchive&) = delete;
  TemporaryArchive& operator=(const TemporaryArchive&) = delete;

  const std::string& directory() const { return directory_; }
  std::string archive() const { return directory_ + "/made"; }

 private:
  std::string directory_;
};
