#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/interruption.h"
#include "tools/cli/standard_streams.h"

namespace rubato {

/// A file that appears under its name only when it is complete: it is written without a name, so
/// that a killed process leaves nothing, or where the file system has no such files under a
/// temporary name next to it; then renamed. An existing file is replaced only at that moment, never
/// by an interrupted process, and passes on its owner and permissions. Anything but a regular file
/// (/dev/stdout, a pipe) is written to directly. The constructor fails if the file cannot be
/// created, so that errors show before a long computation, or if another WholeFile of this process
/// has the same name. Errors: InputError with the file and the reason (a full disk).
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
  bool has_name_ = true;                     // temporary_, so far
  bool owns_target_ = false;                 // registered in targets()
  std::optional<GoneWhenInterrupted> gone_;  // the temporary one
};

/// The absolute path of an existing or future file, with existing symbolic links followed; `path`
/// itself if that fails.
std::string target_of(const std::string& path);

/// Refuses two outputs to the same file, even under different names. Errors: UsageError.
void keep_apart(const std::string& output, const std::string& other);

/// Refuses regular files that exist. Errors: InputError.
void refuse_existing(const std::vector<std::string>& files);

/// Refuses an output that is one of the inputs. Errors: InputError.
void keep_input(const std::string& input, const std::string& output);

}  // namespace rubato
