#pragma once

// The records of some steps of a run, from a file of sums (share/doc/profile.md), as a source of
// calls. Steps follow one another: each begins on every rank where the one before ended there, in a
// collective of all ranks, whatever lay between the two in the run.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

class RunSteps {
 public:
  /// `texts`: the steps of each rank; `nodes`: numbers of any kind, by rank. Errors: InputError
  /// with the rank and the line.
  RunSteps(std::vector<std::string> texts, const std::vector<int>& nodes,
           const RecordingOverhead& overhead);

  /// The calls of which some are kept as they were.
  const std::set<std::string>& kept_calls() const { return kept_calls_; }
  /// Numbers of the steps that all ranks have, in order.
  const std::vector<uint64_t>& numbers() const { return numbers_; }
  /// Sums over steps, means of the ranks; times in seconds.
  struct Sums {
    double length = 0;  ///< of the steps
    double mpi = 0;     ///< in MPI calls, with a core
    double lost = 0;    ///< without a core
    double calls = 0;   ///< to MPI
    double kept = 0;    ///< in MPI calls that a replay keeps as they were
  };
  Sums sums(const std::vector<uint64_t>& numbers) const;
  /// Of the steps that were too long to be recorded; without `lost` and `kept`.
  const Sums& left_out() const { return left_out_; }

  /// The calls of these steps. This object must outlive it.
  std::unique_ptr<EventSource> source(const std::vector<uint64_t>& numbers) const;

 private:
  friend class StepSource;
  struct Step {
    std::string_view lines;  ///< its calls
    size_t first_line;
    Sums sums;
    double rest;  ///< nanoseconds behind the last call
  };
  using RankSteps = std::map<uint64_t, Step>;

  void read(int rank);
  void define_comm(int rank, const std::vector<std::string_view>& words, size_t line);
  void add_left_out();
  void note_channel(int rank, std::string_view item, size_t line);

  std::vector<std::string> texts_;
  TraceDefinitions trace_;
  std::map<std::string, int32_t, std::less<>> names_;      ///< into trace_.calls
  std::map<std::string, uint32_t, std::less<>> identity_;  ///< into trace_.comms
  std::vector<std::map<uint64_t, uint32_t>> comms_;        ///< by rank and its own number
  std::vector<RankSteps> steps_;                           ///< by rank
  std::vector<std::map<uint64_t, Sums>> left_;             ///< by rank: the steps that it left out
  Sums left_out_;
  std::vector<uint64_t> numbers_;
  bool has_all_ = false;  ///< steps of the run
  /// Channels with messages without a key: communicator, sender, receiver, tag.
  std::set<std::tuple<uint32_t, int32_t, int32_t, uint64_t>> unnumbered_;
  std::set<std::string> kept_calls_;
};

}  // namespace rubato
