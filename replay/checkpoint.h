#pragma once

// What a long replay has found out so far, in a file.
//
// A batch job ends when its time is up. So each scenario on a platform is written down as soon as
// it has been replayed, and a replay that is asked the same again goes on behind it. What is cheap
// is made again: the archive is decoded, and scenarios that follow the recording are replayed.
//
// The file is a line that says what it is, the key of the run (a text that differs wherever results
// could), and a record per scenario: length, checksum, number of the scenario, result. Records are
// appended; one that is not whole, behind the others, is forgotten. Of processes that share out
// scenarios each writes its own file, FILE.1 for the second of them, and the first one joins these
// before it goes on, however many wrote them.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

class Checkpoint {
 public:
  /// Whether a result can be that of this scenario; unset: any.
  using Fits = std::function<bool(uint64_t scenario, const ScenarioResult&)>;

  /// That of process `self`. The first one reads what a run with the same key has left, without
  /// records that do not fit, and makes the file where there is none; another one starts anew, once
  /// the first one has read all.
  /// Errors: InputError where it is of another run, no checkpoint, in use, or cannot be written.
  Checkpoint(const std::string& file, const std::string& key, int self, const Fits& fits = {});
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Whether the first process can begin so; leaves everything as it is. Errors: likewise.
  static void check(const std::string& file, const std::string& key);

  /// By number of the scenario.
  const std::map<uint64_t, ScenarioResult>& found() const { return found_; }

  /// Is in the file when this returns. Errors: InputError.
  void add(uint64_t scenario, const ScenarioResult& result);

  /// The run is over: removes the file, and those of other processes.
  static void remove(const std::string& file);

 private:
  std::string name_;
  int file_ = -1;
  std::map<uint64_t, ScenarioResult> found_;
};

}  // namespace rubato
