#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/characterise.h"
#include "models/load_fit.h"

namespace rubato {

/// A file that appears under its name only when it is complete: written as NAME.partial, renamed by
/// commit(). Without commit() nothing remains, unless keep() was called; but a rank that is killed
/// leaves what append() and write() put there. Errors: InputError with the reason of the system.
class NewFile {
 public:
  /// Refuses an existing file, and what a killed run left for it, unless `force`; finds out now
  /// whether the directory can be written.
  NewFile(std::string path, bool force);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }
  /// Adds to NAME.partial what would be lost with a run that is killed; write() begins anew.
  void append(const std::string& text);
  /// The whole content, down to the disk.
  void write(const std::string& text);
  void commit();
  /// Leaves NAME.partial where it is, whatever comes: its name, empty where nothing is in it.
  std::string keep();

 private:
  void create(bool empty);
  void put(const std::string& text);
  void remove();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string partial_;  ///< empty: is not there
  int file_ = -1;
  bool kept_ = false;
};

/// All samples: one line per level, pattern and length; the columns are told in
/// share/doc/calibrating.md. `launch` tells several starts of the calibrator apart; `measured`
/// follows as comments.
std::string samples_csv(const std::vector<LevelResult>& results, int launch,
                        const Provenance& measured);

/// The short table for people.
void print_summary(std::FILE* out, const std::vector<LevelResult>& results);

/// Adds to what was measured the degradation ratio of each level that several pairs were measured
/// on, and the noise of the worst rank. Returns what note_load() says about contention.
std::string note_machine(Provenance& measured, const std::vector<LevelResult>& results,
                         const std::vector<NoiseSummary>& noise);

/// Prints that, and a table of copies.
void print_machine(std::FILE* out, const Provenance& measured,
                   const std::vector<LevelResult>& results);

}  // namespace rubato
