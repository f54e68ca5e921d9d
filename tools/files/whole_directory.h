#pragma once

#include <optional>
#include <string>

#include "tools/cli/interruption.h"

namespace rubato {

/// A directory that appears under its name only when it is complete: filled under a temporary name
/// beside it, then renamed. The constructor fails if there is anything of that name already, or the
/// directory cannot be made, before a long computation is done for nothing. Errors: InputError that
/// names the directory and the reason.
class WholeDirectory {
 public:
  explicit WholeDirectory(const std::string& path);
  ~WholeDirectory();  ///< without commit(), nothing remains
  WholeDirectory(const WholeDirectory&) = delete;
  WholeDirectory& operator=(const WholeDirectory&) = delete;

  /// Where its contents go until then.
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
