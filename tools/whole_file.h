#pragma once

#include <string>

namespace rubato {

/// A file that appears under its name only when it is complete: written beside it under a temporary
/// name, then renamed. What was there before stays until that moment and is then replaced. Names
/// that are no regular files (/dev/stdout, a pipe) are written to directly. The constructor fails
/// where the file could not be created, so that a long computation is not done for nothing, or
/// where another one of this process has the same name. Errors: InputError that names the file and
/// the reason (a full disk).
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
  bool owns_target_ = false;  // no other may write there
};

/// Where a file of this name is, or would be: absolute, with the symbolic links followed that are
/// there. `path` itself where that cannot be found out.
std::string target_of(const std::string& path);

/// Refuses two outputs of one name, however that is written. Errors: UsageError.
void keep_apart(const std::string& output, const std::string& other);

/// Refuses an output that is one of the inputs. Errors: InputError.
void keep_input(const std::string& input, const std::string& output);

/// Prints all of it, or throws: a full disk behind `rubato info --json >file` is an error too. None
/// is a reader that has seen enough (`| head`): the command goes on, with the files that it writes.
void print_to_stdout(const std::string& text);
/// True when print_to_stdout() found that. The process should then end as others do, by SIGPIPE.
bool nobody_reads_stdout();

}  // namespace rubato
