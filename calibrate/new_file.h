#pragma once

#include <string>

namespace rubato {

/// A file that appears under its name only when it is complete. What would be lost with a run that
/// dies is added to NAME.partial meanwhile, and stays there until commit() or discard(), whatever
/// comes. The whole is written beside it, as NAME.new. Errors: InputError with the reason of the
/// system; a part, or a whole, that could not be written is not there at all.
class NewFile {
 public:
  /// Refuses an existing file, and what another run left for it (NAME.partial, NAME.new), unless
  /// `force`; finds out now whether the directory can be written.
  NewFile(std::string path, bool force);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }
  /// Adds to NAME.partial.
  void append(const std::string& text);
  /// The whole content, down to the disk.
  void write(const std::string& text);
  /// Gives it its name, and removes NAME.partial. Where the name cannot be had, NAME.new stays.
  void commit();
  /// Removes NAME.partial: what is in it is of no use.
  void discard();
  /// NAME.partial; empty where nothing is in it.
  const std::string& kept() const { return partial_; }

 private:
  std::string path_;
  std::string partial_;  ///< empty: is not there
  std::string whole_;    ///< likewise
};

}  // namespace rubato
