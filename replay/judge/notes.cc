#include "replay/judge/notes.h"

#include <algorithm>
#include <array>
#include <variant>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/finding_rows.h"
#include "replay/trace/oversubscription.h"

namespace rubato {
namespace {

/// Clocks count as unsynchronised if the repair moved times by more than so many seconds, or by
/// more than that part of the run. (A message between two nodes takes about a microsecond.)
constexpr double kUnsynchronised = 1e-3;
constexpr double kUnsynchronisedPart = 0.1;

/// Overhead that could not be subtracted is reported above this share of the compute time.
constexpr double kClippedPart = 0.01;

/// Time of the tracer and lost cores, above this share of the mean rank's window.
constexpr double kLeastLost = 0.001;

/// A note if there are any.
Notes some(uint64_t count, const std::string& what = "", double seconds = 0) {
  if (count == 0) return {};
  return {{.count = count, .seconds = seconds, .what = what}};
}

Notes some(const Oddity& oddity) {
  return some(oddity.count, oddity.first);
}

/// A note for each of them.
Notes each_of(const std::vector<std::string>& list) {
  Notes notes;
  for (const std::string& what : list) notes.push_back({.count = 1, .what = what});
  return notes;
}

Notes violations(const TraceSummary& trace) {
  return some(trace.clock_violations.total(), trace.clock_violations.first);
}

bool has_inferred_limit(const EagerSummary& eager) {
  return eager.node.from == EagerLimit::From::kRecording ||
         eager.network.from == EagerLimit::From::kRecording;
}

/// On all scenarios whose network carries nothing.
Notes unused_networks(const Roles& roles) {
  const ScenarioResult* first = nullptr;
  std::string names;
  for (const ScenarioResult& scenario : roles.results->scenarios) {
    if (!scenario.network_unused || is_alone(*roles.results)) continue;
    if (!first) first = &scenario;
    names += (names.empty() ? "" : ", ") + scenario.name;
  }
  if (!first) return {};
  uint64_t messages = 0;
  for (const LevelTraffic& level : first->traffic) messages += level.messages;
  std::vector<std::string> changes = first->changes;
  std::erase_if(changes, [](const std::string& change) {
    return change.starts_with("ppn=") || change.starts_with("placement=");
  });
  changes.emplace_back("ppn=1");
  return {{.count = messages, .what = names, .instead = scenario_text(first->base, changes)}};
}

/// Time of the mean rank above this share of its window.
Notes time_beyond(double least, const Roles& roles, double RankResult::*seconds) {
  if (!roles.measured || roles.measured->ranks.empty()) return {};
  const double window = mean_window(roles.measured->ranks);
  const double time = mean(roles.measured->ranks, seconds);
  if (!(time > least * window)) return {};
  return {{.count = 1, .seconds = time, .window = window}};
}

Notes clipped_overheads(const ScenarioResult& scenario) {
  double compute = 0;
  for (const RankResult& rank : scenario.ranks) compute += rank.compute;
  if (!(compute > 0 && scenario.clipped_time > kClippedPart * compute)) return {};
  return {{.count = scenario.clipped_overheads, .seconds = scenario.clipped_time}};
}

template <SocketsUnused reason>
Notes unused_sockets(const ScenarioResult& scenario) {
  return some(scenario.sockets_unused == reason);
}

Notes other_levels(const ScenarioResult& scenario) {
  Notes notes;
  for (const auto& [level, priced_as] : scenario.priced_as) {
    notes.push_back({.count = 1,
                     .what = kLevelNames[static_cast<size_t>(level)],
                     .instead = kLevelNames[static_cast<size_t>(priced_as)]});
  }
  return notes;
}

/// When there are notes of a kind, on an archive, a run or a scenario.
struct NoteRow {
  NoteKind kind;
  std::variant<Notes (*)(const TraceSummary&), Notes (*)(const Roles&),
               Notes (*)(const ScenarioResult&)>
      find;
  bool is_warning = false;
};

constexpr std::array<NoteRow, kNoteKinds> note_rows() {
  using enum NoteKind;
  using T = const TraceSummary&;
  using R = const Roles&;
  using S = const ScenarioResult&;
  return {{
      {kPolling, [](T t) { return some(t.spinning_calls, "", t.spinning_time); }},
      {kUnmatchedSends, [](T t) { return some(t.unmatched_sends, t.unmatched_send); }},
      {kUnmatchedReceives, [](T t) { return some(t.unmatched_receives, t.unmatched_receive); }},
      {kEarlyReturns, [](T t) { return t.one_clock ? violations(t) : Notes(); }},
      {kClockViolations,
       [](T t) { return t.one_clock || t.clock_repair ? Notes() : violations(t); }},
      {kClockRepair, [](T t) { return !t.one_clock && t.clock_repair ? violations(t) : Notes(); }},
      {kEagerLimit, [](T t) { return some(has_inferred_limit(t.eager)); }},
      {kThreadsUnjoined, [](T t) { return some(t.joined_threads > 0 ? 0 : t.calling_threads); },
       true},
      {kReader, [](T t) { return each_of(t.notes); }, true},
      {kCostUnknown, [](T t) { return some(t.priced_calls, t.priced_by); }, true},
      {kThreads, [](T t) { return some(t.joined_threads > 0 ? t.calling_threads : 0); }, true},
      {kSilentThreads, [](T t) { return some(std::max(0, t.silent_threads)); }, true},
      {kWildcards,
       [](T t) { return some(t.wildcards_by_arrival && t.wildcards != WildcardsKnown::kAll); },
       true},
      {kBackwards, [](T t) { return some(t.backwards); }, true},
      {kMiscounted, [](T t) { return some(t.miscounted); }, true},
      {kMisfits, [](T t) { return some(t.misfits); }, true},
      {kOpenReceives, [](T t) { return some(t.open_receives); }, true},
      {kOpenCollectives, [](T t) { return some(t.open_collectives); }, true},
      {kAbandonedCollectives, [](T t) { return some(t.abandoned_collectives); }, true},
      {kAbandonedEpochs, [](T t) { return some(t.abandoned_epochs); }, true},
      {kUnsynchronised, [](T t) { return some(has_unsynchronised_clocks(t)); }, true},
      {kNetworkUnused, unused_networks},
      {kNotRecorded, [](R r) { return time_beyond(0, r, &RankResult::not_recorded); }},
      {kFlushing, [](R r) { return time_beyond(kLeastLost, r, &RankResult::flushing); }},
      {kLostCores, [](R r) { return time_beyond(kLeastLost, r, &RankResult::lost_core); }},
      {kDeadlock, [](S s) { return some(!s.deadlock.empty(), s.deadlock); }},
      {kContradicted, [](S s) { return some(s.contradicted_outcomes, "", s.contradicted_time); }},
      {kGrade, [](S s) { return some(!s.grade.empty(), s.grade); }},
      {kFewNodes, [](S s) { return some(s.measured_nodes); }},
      {kOverheadUnknown, [](S s) { return some(s.overhead_unknown); }, true},
      {kOverheadClipped, clipped_overheads, true},
      {kSocketsNotPriced, unused_sockets<SocketsUnused::kNotPriced>, true},
      {kSocketsNotRecorded, unused_sockets<SocketsUnused::kNotRecorded>, true},
      {kSocketsNotPlaced, unused_sockets<SocketsUnused::kNotPlaced>, true},
      {kPricedAs, other_levels, true},
      {kChangesNothing, [](S s) { return some(s.changes_nothing); }, true},
      {kAbsentCollective, [](S s) { return each_of(s.absent_collectives); }, true},
      {kNoPorts, [](S s) { return some(s.no_ports); }, true},
      {kWouldStarve,
       [](S s) { return some(s.wildcard_matching == WildcardMatching::kWouldStarve); }, true},
      {kRematched, [](S s) { return some(s.wildcard_matching == WildcardMatching::kByArrival); },
       true},
      {kTookFirst, [](S s) { return some(s.took_first); }, true},
      {kTookRecorded, [](S s) { return some(s.took_recorded); }, true},
      {kDegradationFit, [](S s) { return some(s.degradation_fit.has_value()); }, true},
  }};
}
constexpr std::array<NoteRow, kNoteKinds> kNoteRows = note_rows();
static_assert(has_each_kind(kNoteRows));

/// The notes of the rows on such a subject; `about` knows it.
template <typename Subject>
Notes notes_of(const Subject& subject, bool only_warnings, const Note& about) {
  Notes notes;
  for (const NoteRow& row : kNoteRows) {
    const auto* const find = std::get_if<Notes (*)(const Subject&)>(&row.find);
    if (!find || (only_warnings && !row.is_warning)) continue;
    for (Note& note : (*find)(subject)) {
      note.kind = row.kind;
      note.trace = about.trace;
      note.scenario = about.scenario;
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

/// That ranks shared cores is why they lost them: one fact, one note.
void take_reason(Notes& notes, Note& lost) {
  const auto shared = std::find_if(notes.begin(), notes.end(), [](const Note& note) {
    return note.kind == NoteKind::kReader && note.what.ends_with(kTimeWithoutCores);
  });
  if (shared == notes.end()) return;
  lost.what = shared->what.substr(0, shared->what.size() - kTimeWithoutCores.size());
  notes.erase(shared);
}

}  // namespace

bool has_unsynchronised_clocks(const TraceSummary& trace) {
  return trace.clock_repair && trace.clock_repair->largest_shift >
                                   std::min(kUnsynchronised, kUnsynchronisedPart * trace.elapsed);
}

Notes notes_on(const TraceSummary& trace, bool only_warnings) {
  return notes_of(trace, only_warnings, {.trace = &trace});
}

Notes notes_on(const ScenarioResult& scenario, bool only_warnings) {
  return notes_of(scenario, only_warnings, {.scenario = &scenario});
}

Notes notes_on(const Roles& roles) {
  Notes notes = notes_on(roles.results->trace);
  for (Note& note : notes_of(roles, false, {.trace = &roles.results->trace})) {
    if (note.kind == NoteKind::kLostCores) take_reason(notes, note);
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace rubato
