#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/placement/placement.h"
#include "replay/trace/recording_overhead.h"

namespace rubato {

template <int K>
class Observer;
class Team;

class EventSource;

/// A recorded run that is replayed beside the archive's own job, on nodes of its own of the same
/// network: if a scenario's transfers share links, they share them with this job's.
struct OtherJob {
  std::string path;                     ///< of its archive
  std::shared_ptr<EventSource> source;  ///< not used elsewhere
  std::vector<int> nodes = {};          ///< of the network; empty: the next free ones
  double start = 0;  ///< seconds from the begin of the other's records to its own
  std::optional<int> ranks_per_node = {};  ///< none: as the scenario's ppn, else as recorded
};

/// How an archive is read and replayed; the same for all scenarios of one run.
struct ReplayOptions {
  bool compensate = true;    ///< subtract the tracer's own overhead
  bool keep_stolen = false;  ///< all scenarios keep the time in which threads had no core
  std::optional<RecordingOverhead> overhead;  ///< overrides the archive's
  std::optional<double> eager_limit;          ///< bytes; overrides the archive's
  bool spinning_waits = true;                 ///< polling loops are waits (polling.h)
  /// Receives from any source take the message that arrives first in a model (arrival_matcher.h).
  bool wildcards_by_arrival = false;
  bool ignore_offsets = false;  ///< do not apply the archive's clock offsets
  bool repair = true;  ///< of times that violate the order of cause and effect (logical_clock.h)
  /// Repair orders the records of messages, not just calls. The source keeps records.
  bool repair_records = false;
  int threads = 0;           ///< threads that decode the archive; 0: one per processor
  bool wait_states = false;  ///< also sum up what ranks wait for (wait_states.h)
  bool verify = false;       ///< also compare `measured` with the recording, record by record
  /// Receive every call of scenario number `observed`, which is the only one if an observer
  /// wants_bounds().
  std::vector<Observer<1>*> observers{};
  size_t observed = 0;
  /// Functions to be timed between calls, in addition to the functions that scenarios change.
  std::vector<std::string> functions;
  bool total_functions = false;  ///< also add up the recorded compute of each function
  /// The processes that divide the replay among themselves, all with the same scenarios and
  /// options; null: this one alone. Process 0 has the results. If they cannot divide it,
  /// NeedsOneProcess is thrown in all of them (cluster/transport.h).
  Team* team = nullptr;
  /// Alternatively the processes that distribute the scenarios among themselves, each with the
  /// whole archive: for scenarios that need the order of time, one by one. Not together with
  /// `team`.
  Team* spread = nullptr;
  /// Jobs beside the archive's own (other_jobs.h); not together with `team`, `spread`,
  /// `wildcards_by_arrival`, or a scenario with Scenario::fits_degradation. Results are of the
  /// archive's own job, except ScenarioResult::jobs.
  std::vector<OtherJob> jobs{};
  /// For a source that joins several jobs (joined_source.h): the end of the ranks of each job.
  /// Results are those of the first job; of the others only their elapsed times, in
  /// ScenarioResult::jobs.
  std::vector<int> ends_of_jobs{};
  std::function<void(double)> progress;  ///< called from time to time with the share done, 0 to 1

  /// The overhead that is subtracted. `recorded`: of the archive.
  RecordingOverhead subtracted(const RecordingOverhead& recorded) const {
    return compensate ? overhead.value_or(recorded) : RecordingOverhead{};
  }
};

}  // namespace rubato
