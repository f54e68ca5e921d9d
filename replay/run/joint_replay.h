#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/cluster/one_process.h"
#include "replay/cluster/processors.h"
#include "replay/cluster/team.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The result of a joint replay for one member of the team.
struct JointReplay {
  std::optional<Results> results;  ///< complete at the member that leads
  std::optional<OneProcess> why;   ///< no results, for this reason: one process has to replay alone
};

/// Replays the archive as a member of `team`, whose members all call this with the same archive,
/// scenarios and options: they divide the ranks or, if that is impossible from the start, the
/// scenarios; in the latter case `notice_spread`, if set, is called first. On return `source` is
/// the archive, opened for the part of this member, if it could be opened. Errors: InputError, in
/// some members.
JointReplay replay_jointly(Team& team, const std::string& archive,
                           const std::vector<Scenario>& scenarios, ReplayOptions options,
                           std::unique_ptr<EventSource>& source,
                           const std::function<void(OneProcess)>& notice_spread = {});

/// The number of threads of this process that should divide a replay of `source`: `asked` or, if
/// that is 0, as many as there are `processors` and enough records for; at most the number of
/// ranks, and 1 if the amount of work is unknown. `diagnoses`: waits are diagnosed, too.
int threads_that_pay(const EventSource& source, int asked, bool diagnoses,
                     int processors = available_processors());

/// The same by `threads` threads of this process. Each has definitions and results of its own.
/// Nothing if one of them failed: one thread alone will meet and report the same error.
JointReplay replay_on_threads(int threads, const std::string& archive,
                              const std::vector<Scenario>& scenarios, ReplayOptions options,
                              std::unique_ptr<EventSource>& source);

}  // namespace rubato
