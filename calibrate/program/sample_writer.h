#pragma once

#include <string>

namespace rubato {

/// The kind of rows in a file.
enum class Rows {
  kSamples,       ///< for `rubato fit`
  kObservations,  ///< single observations, for the user only
};

/// The file of samples, written while they are measured. Rows go to NAME.partial, which survives a
/// kill of the run and is renamed when it is complete. Errors: InputError with the system's reason.
class SampleWriter {
 public:
  /// Errors: as refuse_output().
  SampleWriter(std::string path, bool force, Rows rows = Rows::kSamples);

  /// Text in front of the first rows; without rows nothing is written.
  void begin(const std::string& head) { pending_ = head; }
  /// Adds whole rows. If they cannot be written now (full disk), they are written before the next.
  void add(const std::string& rows);
  /// Renames the file. If that fails, all that could be written is in NAME.partial.
  void finish();
  /// Removes NAME.partial.
  void discard();
  /// NAME.partial; empty if it has no content.
  std::string kept() const { return any_ ? partial_ : ""; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_, partial_;
  std::string pending_;  ///< not written yet
  bool any_ = false;     ///< NAME.partial has content
};

/// Refuses, unless `force`, an existing file and the rows of a run that failed (NAME.partial); and
/// a directory that cannot be written. Errors: InputError.
void refuse_output(const std::string& path, bool force, Rows rows = Rows::kSamples);

/// Refuses a directory, a file whose directory cannot be written and, unless `force`, an existing
/// one. Errors: InputError.
void refuse_unwritable(const std::string& path, bool force);

}  // namespace rubato
