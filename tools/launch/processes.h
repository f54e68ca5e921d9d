#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"

namespace rubato {

/// The processes of one command: those started by mpirun, else only this one. They replay together
/// from begin() to end(); afterwards process 0 continues alone.
class Processes {
 public:
  /// Connects the processes if they have the same arguments `words`; otherwise each runs its own
  /// command. Warns if the MPI library cannot be loaded.
  explicit Processes(const std::vector<std::string>& words);
  /// Releases processes that wait in begin().
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  bool are_several() const { return several_; }
  /// True for the process that reads options and writes all output.
  bool leads() const { return leads_; }

  /// Collective: true if all processes can replay. Otherwise false, and end() has been called.
  bool begin(bool fine = true);
  Team* team() { return team_ ? &*team_ : nullptr; }
  void end();

 private:
  bool several_ = false;
  bool leads_ = true;
  std::unique_ptr<Transport> transport_;
  std::optional<Team> team_;  ///< until end()
};

/// A notice that the replay could not be divided.
std::string one_process_line(OneProcess why);
/// A notice that scenarios were distributed instead of ranks.
std::string spread_line(OneProcess why);

}  // namespace rubato
