#pragma once

#include <string>

namespace rubato {

/// A file that appears under its name only when it is complete. Intermediate results go to
/// NAME.partial, which survives the death of the run and stays until commit() or discard(). The
/// whole is written beside it, as NAME.new. Errors: InputError with the reason of the system; a
/// part or whole that could not be written leaves no file.
class NewFile {
 public:
  /// Refuses an existing file, and the remains of another run (NAME.partial, NAME.new), unless
  /// `force`; checks now that the directory can be written.
  NewFile(std::string path, bool force);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }
  /// Adds to NAME.partial.
  void append(const std::string& text);
  /// The whole content, down to the disk.
  void write(const std::string& text);
  /// Renames NAME.new to NAME and removes NAME.partial. If the rename fails, NAME.new stays.
  void commit();
  /// Removes NAME.partial.
  void discard();
  /// NAME.partial; empty if it has no content.
  const std::string& kept() const { return partial_; }

 private:
  std::string path_;
  std::string partial_;  ///< empty: is not there
  std::string whole_;    ///< likewise
};

}  // namespace rubato
