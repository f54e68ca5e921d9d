#pragma once

#include <atomic>
#include <string>

namespace rubato {
inline namespace tracing {

/// The line about a call of MPI_Abort, printed by one rank of the job.
class LastWords {
 public:
  /// Call it at the start. `line` has its newline; `claim` is the file by which one rank claims the
  /// line, empty without an archive: then only the first rank prints it.
  void prepare(std::string line, std::string claim, bool is_first_rank);
  /// The program is about to die by MPI_Abort, maybe in a signal handler.
  void say();
  /// This rank printed the line, or leaves it to another one, or another one printed it.
  bool is_said() const;

 private:
  void say_here();

  std::string line_, claim_;
  bool is_first_rank_ = false;
  int file_ = 2;  // standard error
  std::atomic<bool> said_{false};
};

}  // namespace tracing
}  // namespace rubato
