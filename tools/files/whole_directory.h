#pragma once

#include <optional>
#include <string>

#include "tools/cli/interruption.h"

namespace rubato {

/// A directory that appears under its name only when it is complete: it is filled under a temporary
/// name next to it, then renamed. The constructor fails if the name exists or the directory cannot
/// be created, so that errors show before a long computation. Errors: InputError with the directory
/// and the reason.
class WholeDirectory {
 public:
  explicit WholeDirectory(const std::string& path);
  ~WholeDirectory();  ///< without commit(), nothing remains
  WholeDirectory(const WholeDirectory&) = delete;
  WholeDirectory& operator=(const WholeDirectory&) = delete;

  /// The temporary directory, for contents until commit().
  const std::string& path() const { return temporary_; }
  void commit();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::string path_;       // as the user wrote it
  std::string target_;     // with symbolic links followed
  std::string temporary_;  // empty: complete
  std::optional<GoneWhenInterrupted> gone_;
};

}  // namespace rubato
