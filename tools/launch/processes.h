#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"

namespace rubato {

/// The processes of one command: those that mpirun has started, else this one. They replay together
/// from begin() to end(); process 0 then goes on alone, and the others have nothing more to do.
class Processes {
 public:
  /// Joins the others, if there are any and they have the same `words` to obey; else each does what
  /// it was told to. Warns where the library for that is missing.
  explicit Processes(const std::vector<std::string>& words);
  /// Others that wait in begin() have nothing to do.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  bool are_several() const { return several_; }
  /// This one reads options, writes and prints; the others are silent.
  bool leads() const { return leads_; }

  /// All are about to replay. False where one of them cannot; then end() is over, too.
  bool begin(bool fine = true);
  Team* team() { return team_ ? &*team_ : nullptr; }
  void end();

 private:
  bool several_ = false;
  bool leads_ = true;
  std::unique_ptr<Transport> transport_;
  std::optional<Team> team_;  ///< until end()
};

/// One line about a replay that could not be divided.
std::string one_process_line(OneProcess why);
/// Of one whose scenarios were shared out instead of its ranks.
std::string spread_line(OneProcess why);

}  // namespace rubato
