#pragma once

#include <atomic>
#include <string>

namespace rubato {
inline namespace tracing {

/// The line of a program that calls MPI_Abort, which one rank of the job says.
class LastWords {
 public:
  /// Before anything can go wrong: `line` with its end; `claim`, the file of the rank that says it,
  /// empty without an archive: then `is_first_rank` says it.
  void prepare(std::string line, std::string claim, bool is_first_rank);
  /// The program is about to die by MPI_Abort, maybe in a signal handler.
  void say();
  /// This rank has said it, or left it to another one, or another one has.
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
