#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/base/partial_array.h"
#include "replay/cluster/byte_stream.h"
#include "replay/observe/results.h"
#include "replay/trace/operation.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Contents of an archive, and how much of it the replay understands; collected from the recorded
/// times in any one pass.
class Coverage {
 public:
  /// `spinning_waits`: as ReplayOptions::spinning_waits. `only`: the timelines whose calls will be
  /// added; null: all.
  Coverage(const TraceDefinitions& trace, bool spinning_waits,
           const std::vector<int>* only = nullptr);

  /// `call` of a timeline left. `counted`: the Profile has counted it and will add() it; such calls
  /// need to be added here only if they are kept, or `lost` some ticks to flushes or to other
  /// processes on their core, which are no part of their time.
  void call(int timeline, const Call& call, bool counted, double lost);

  /// The counts of the Profile of the same pass for the `name`-th call: all its calls, and the
  /// ticks of its `counted` calls.
  void add(size_t name, uint64_t calls, double ticks);

  /// Serialises the results of `timelines` for another process.
  void put(ByteWriter& to, const std::vector<int>& timelines) const;
  void take(ByteReader& from, const std::vector<int>& timelines);

  /// Fills the counts of `summary` that come from calls.
  void fill(TraceSummary& summary) const;

  /// Indices of the calls that occur, most recorded time first.
  std::vector<int> calls_by_time() const;

 private:
  struct PerCall {
    uint64_t calls = 0;
    double ticks = 0;
    uint64_t kept = 0;
    double kept_ticks = 0;
    std::pair<double, int> first_place;  ///< enter as recorded, timeline
    std::string first_kept;
  };
  /// Ticks: the window as used for elapsed; a timeline without events has none.
  struct Window {
    double start = std::numeric_limits<double>::infinity();
    double end = -std::numeric_limits<double>::infinity();
    bool over = false;  ///< MPI_Finalize was entered
  };

  const TraceDefinitions* trace_;
  int ranks_;
  std::vector<PerCall> calls_;
  PartialArray<Window> windows_;  ///< by timeline
  bool spinning_waits_;
  uint64_t spinning_calls_ = 0;
  double spinning_ticks_ = 0;
  uint64_t mpi_calls_ = 0;
  double mpi_ticks_ = 0;
};

}  // namespace rubato
