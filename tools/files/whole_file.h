#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/interruption.h"
#include "tools/cli/standard_streams.h"

namespace rubato {

/// A file that appears under its name only when it is complete: written under a temporary name
/// beside it, then renamed. An older file stays until that moment and is then replaced by one with
/// its owner and permissions; so it does when the process is interrupted. Names of
/// anything but regular files (/dev/stdout, a pipe) are written to directly. The constructor fails
/// if the file cannot be created, before a long computation is done for nothing, or if another
/// WholeFile of this process has the same name. Errors: InputError that names the file and the
/// reason (a full disk).
class WholeFile {
 public:
  explicit WholeFile(const std::string& path);
  ~WholeFile();  ///< without commit(), nothing remains
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(const std::string& text);
  void commit();

 private:
  [[noreturn]] void fail(int error);

  std::string path_;       // as the user wrote it
  std::string target_;     // with symbolic links followed
  std::string temporary_;  // empty: written to directly
  int descriptor_ = -1;
  bool owns_target_ = false;                 // no other may write there
  std::optional<GoneWhenInterrupted> gone_;  // the temporary one
};

/// The absolute path of an existing or future file, with existing symbolic links followed; `path`
/// itself if that fails.
std::string target_of(const std::string& path);

/// Refuses two outputs to one file, under whatever names. Errors: UsageError.
void keep_apart(const std::string& output, const std::string& other);

/// Refuses regular files that exist. Errors: InputError.
void refuse_existing(const std::vector<std::string>& files);

/// Refuses an output that is one of the inputs. Errors: InputError.
void keep_input(const std::string& input, const std::string& output);

}  // namespace rubato
