#pragma once

#include <string>

namespace rubato {

/// What the rows of a file are.
enum class Rows {
  kSamples,       ///< `rubato fit` reads them
  kObservations,  ///< single ones, which nothing reads
};

/// The file of samples, written while they are measured. Rows go to NAME.partial, which survives
/// the death of the run and gets its name when all is in it. Errors: InputError with the reason of
/// the system.
class SampleWriter {
 public:
  /// Errors: as refuse_output().
  SampleWriter(std::string path, bool force, Rows rows = Rows::kSamples);

  /// What stands in front of the first rows; without rows nothing is written.
  void begin(const std::string& head) { pending_ = head; }
  /// Adds whole rows. Those that cannot be written now (a full disk) are written before the next.
  void add(const std::string& rows);
  /// Gives the file its name. If that fails, all that could be written is in NAME.partial.
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
