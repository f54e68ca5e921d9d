#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

/// Finds out whether all ranks of the job are traced. It does so without MPI: an untraced rank
/// takes part in no message and no collective of the tracer.
///
/// Each traced process announces itself before MPI_Init, in a file that its node's processes map.
/// Nearly always the file has as many processes as MPI_COMM_WORLD has ranks when MPI_Init returns.
/// Otherwise there are other nodes, or untraced ranks. The first process of a node that returns
/// leads the node: it posts the node's ranks as a file in a directory that all nodes see, and waits
/// until the files have all ranks. The first leader that knows the answer, or whose time is up,
/// creates a symbolic link of a fixed name there, which only one can; its text is the answer for
/// all.
///
/// The last process that needs a file removes it. After killed jobs, a node's file that no process
/// has locked is started anew, and posted files older than two minutes are removed.
namespace rubato {
inline namespace tracing {

class RollCall {
 public:
  struct Places {
    std::string job;  ///< a text common to all processes of the job, different in other jobs
    std::vector<std::string> node;  ///< directories of this node: the first one with space is used
    std::string shared;             ///< directory visible to all nodes; written to only if needed
  };

  /// Announces this process.
  explicit RollCall(const Places& places);
  ~RollCall();  ///< withdraws the announcement if answer() was not called
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  struct Answer {
    bool all = false;        ///< every rank is traced; the same in all traced ranks
    bool speaker = false;    ///< not all are traced, and this process is the one to report it
    std::vector<int> ranks;  ///< the known traced ranks; on the speaker only
    std::string trouble;     ///< why other ranks could not be seen
  };
  /// Call it once, after MPI_Init. Waits at most `patience` seconds before the answer is no (five
  /// more if the leader of the node died).
  Answer answer(int rank, int size, double patience);

 private:
  struct Board;

  void open_board(const std::string& name);
  void close_board();
  Answer lead(int rank, int size, double patience);
  uint32_t announced() const;
  std::vector<int> ranks_here() const;

  std::string board_name_;
  Board* board_ = nullptr;
  int file_ = -1;
  uint32_t slot_ = 0;
  std::string shared_;
};

/// "rank 3", "ranks 0-2,5".
std::string name_ranks(const std::vector<int>& ranks);

/// The line for the user.
std::string untraced_ranks(const RollCall::Answer& answer, int size);

}  // namespace tracing
}  // namespace rubato
