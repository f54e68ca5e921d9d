#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/judge/roles.h"

namespace rubato {

/// Each has a row in notes.cc, and its words in tools/words/note_words.cc.
enum class NoteKind : uint8_t {
  // Of an archive.
  kPolling,
  kUnmatchedSends,
  kUnmatchedReceives,
  kEarlyReturns,     ///< before a call of another rank, by one clock
  kClockViolations,  ///< not repaired
  kClockRepair,
  kEagerLimit,  ///< inferred from recorded sends
  // Of an archive: warnings.
  kThreadsUnjoined,
  kReader,  ///< from reading the definitions
  kCostUnknown,
  kThreads,
  kSilentThreads,
  kWildcards,
  kBackwards,
  kMiscounted,
  kMisfits,
  kOpenReceives,
  kOpenCollectives,
  kAbandonedCollectives,
  kAbandonedEpochs,
  kUnsynchronised,
  // Of a run.
  kNetworkUnused,
  kNotRecorded,
  kFlushing,
  kLostCores,
  // Of a scenario.
  kDeadlock,
  kContradicted,
  kGrade,
  kFewNodes,  ///< the platform file was measured on
  // Of a scenario: warnings.
  kOverheadUnknown,
  kOverheadClipped,
  kSocketsNotPriced,
  kSocketsNotRecorded,
  kSocketsNotPlaced,
  kPricedAs,
  kChangesNothing,
  kAbsentCollective,
  kNoPorts,
  kWouldStarve,
  kRematched,
  kTookFirst,
  kTookRecorded,
  kDegradationFit,
  kCount  ///< the number of kinds
};
inline constexpr auto kNoteKinds = static_cast<size_t>(NoteKind::kCount);

/// A fact to know before trusting a number of a report: an anomaly of the archive, time that is not
/// explained, a limit of a scenario.
struct Note {
  NoteKind kind = NoteKind::kReader;
  uint64_t count = 0;
  double seconds = 0;
  double window = 0;         ///< of a run: seconds of the mean rank, to which `seconds` refer
  std::string what = {};     ///< the first place in the archive, a name, a sentence or a reason
  std::string instead = {};  ///< kPricedAs: the level used; kNetworkUnused: a scenario to try
  const TraceSummary* trace = nullptr;       ///< of an archive or of a run
  const ScenarioResult* scenario = nullptr;  ///< of a scenario
};
using Notes = std::vector<Note>;

/// Notes on an archive or a scenario: all, or only warnings, anomalies that limit its accuracy.
Notes notes_on(const TraceSummary& trace, bool only_warnings = false);
Notes notes_on(const ScenarioResult& scenario, bool only_warnings = false);
/// All on the archive, then those on the run: time that was not recorded, was spent in the tracer,
/// or was lost to other programs on the same cores; platforms whose network carries no message.
Notes notes_on(const Roles& roles);

/// True if the clocks of the ranks were so far apart that recorded waits between ranks are
/// meaningless.
bool has_unsynchronised_clocks(const TraceSummary& trace);

}  // namespace rubato
