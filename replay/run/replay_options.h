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

/// A recorded run that is replayed beside the one that is asked about, on nodes of its own of the
/// same network: wherever a scenario's transfers share something, they share it with this job's.
struct OtherJob {
  std::string path;                     ///< of its archive
  std::shared_ptr<EventSource> source;  ///< of nobody else
  std::vector<int> nodes = {};          ///< of the network; empty: the next that are free
  double start = 0;  ///< seconds from the begin of the other's records to its own
  std::optional<int> ranks_per_node = {};  ///< none: as the scenario's ppn, else as recorded
};

/// How an archive is read and replayed; the same for all scenarios of one run.
struct ReplayOptions {
  bool compensate = true;    ///< subtract the tracer's own overhead
  bool keep_stolen = false;  ///< in all scenarios the time in which threads had no core
  std::optional<RecordingOverhead> overhead;  ///< instead of what the archive says
  std::optional<double> eager_limit;          ///< bytes, instead of what the archive says
  bool spinning_waits = true;                 ///< polling loops are waits (polling.h)
  /// Receives from any source take whichever message comes first in a model (arrival_matcher.h).
  bool wildcards_by_arrival = false;
  bool ignore_offsets = false;  ///< do not apply the archive's clock offsets
  bool repair = true;  ///< of times that violate the order of cause and effect (logical_clock.h)
  /// Repair orders the records of messages, not just calls. The source keeps records.
  bool repair_records = false;
  int threads = 0;           ///< that decode the archive; 0: as many as there are processors
  bool wait_states = false;  ///< also sum up what ranks wait for (wait_states.h)
  bool verify = false;       ///< also compare `measured` with the recording, record by record
  std::vector<Observer<1>*> observers{};  ///< see every call, where there is one scenario
  /// Functions whose time between calls is measured besides those that scenarios change.
  std::vector<std::string> functions;
  bool total_functions = false;  ///< also add up the recorded compute of each function
  /// The processes that divide the replay among themselves, all with the same scenarios and
  /// options; null: this one alone. Process 0 has the results. Where they cannot,
  /// NeedsOneProcess is thrown in all of them (cluster/transport.h).
  Team* team = nullptr;
  /// Or the processes that divide the scenarios among themselves, each with all of the archive:
  /// those that need the order of time, one by one. Not beside `team`.
  Team* spread = nullptr;
  /// Jobs beside it (other_jobs.h); not beside `team`, `spread`, `wildcards_by_arrival`, or a
  /// scenario with Scenario::fits_degradation. Results are of the archive's own job, but for
  /// ScenarioResult::jobs.
  std::vector<OtherJob> jobs{};
  /// Of a source that joins several jobs (joined_source.h): the rank behind the last of each.
  /// Results are of the first, of the others only their elapsed times, in ScenarioResult::jobs.
  std::vector<int> ends_of_jobs{};
  std::function<void(double)> progress;  ///< called now and then with the share done, 0 to 1
};

}  // namespace rubato
