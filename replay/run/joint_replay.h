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

/// What a member of a team has from a replay that all of it made.
struct JointReplay {
  std::optional<Results> results;  ///< whole at the member that leads
  std::optional<OneProcess> why;   ///< there are no results: one has to replay alone
};

/// Replays the archive as one of `team`, whose members all call this with the same archive,
/// scenarios and options: they divide the ranks or, where that is impossible from the start, the
/// scenarios; then `notice_spread`, if set, is called before. `source` is afterwards the archive,
/// open for the part of this member, if it could be opened. Errors: InputError, in some members.
JointReplay replay_jointly(Team& team, const std::string& archive,
                           const std::vector<Scenario>& scenarios, ReplayOptions options,
                           std::unique_ptr<EventSource>& source,
                           const std::function<void(OneProcess)>& notice_spread = {});

/// How many threads of this process should divide a replay of `source`: as many as are `asked` for
/// or, where that is 0, as there are `processors` and enough records for; no more than ranks, and 1
/// where it is not known how much there is to do.
int threads_that_pay(const EventSource& source, int asked, int processors = available_processors());

/// The same by so many threads of this process. Each has definitions and results of its own.
/// Nothing where one of them met an error: one thread alone will come to the same, and say what it
/// is.
JointReplay replay_on_threads(int threads, const std::string& archive,
                              const std::vector<Scenario>& scenarios, ReplayOptions options,
                              std::unique_ptr<EventSource>& source);

}  // namespace rubato
