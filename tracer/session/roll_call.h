#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

/// Are all ranks of the job traced? Found out without MPI: an untraced rank takes part in no
/// message and no collective of the tracer.
///
/// Each traced process announces itself before MPI_Init, in a file that its node's processes map.
/// Nearly always the file has as many processes as MPI_COMM_WORLD has ranks when MPI_Init returns.
/// Otherwise there are other nodes, or untraced ranks. The first process of a node that returns
/// leads the node: it posts the node's ranks as a file in a directory that all nodes see, and waits
/// until the files have all ranks. The first leader to know an answer, or to lose patience, places
/// a symbolic link of a fixed name there, which only one can; its text is the answer for all.
///
/// Everything is removed by the last who needs it. Of what killed jobs left, a file of a node that
/// no process has locked is begun anew, and posted files that are two minutes old are removed.
namespace rubato {
inline namespace tracing {

class RollCall {
 public:
  struct Places {
    std::string job;  ///< what all processes of the job have in common, and those of no other job
    std::vector<std::string> node;  ///< directories of this node: the first that has room is used
    std::string shared;             ///< one that all nodes see; written to only where it is needed
  };

  /// Announces this process.
  explicit RollCall(const Places& places);
  ~RollCall();  ///< takes it back where answer() was not called
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  struct Answer {
    bool all = false;        ///< every rank is traced; the same in all traced ranks
    bool speaker = false;    ///< not all; this process is the one to say so
    std::vector<int> ranks;  ///< the traced ones, as far as they are known; to the speaker
    std::string trouble;     ///< why other ranks could not be seen
  };
  /// After MPI_Init; once. Waits for so many seconds at most before the answer is no (five more
  /// where the leader of the node died).
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
