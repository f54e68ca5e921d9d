#include "replay/judge/notes.h"

#include <algorithm>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"

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

/// Notes on one archive or scenario, in order.
class List {
 public:
  explicit List(const TraceSummary& trace) { about_.trace = &trace; }
  explicit List(const ScenarioResult& scenario) { about_.scenario = &scenario; }

  /// Adds a note if there are any.
  Note* add(NoteKind kind, uint64_t count, const std::string& what = "", double seconds = 0) {
    if (count == 0) return nullptr;
    Note note = about_;
    note.kind = kind;
    note.count = count;
    note.what = what;
    note.seconds = seconds;
    notes_.push_back(std::move(note));
    return &notes_.back();
  }
  void add(NoteKind kind, const Oddity& oddity) { add(kind, oddity.count, oddity.first); }
  void append(Notes more) {
    for (Note& note : more) notes_.push_back(std::move(note));
  }
  Notes take() { return std::move(notes_); }

 private:
  Note about_{};
  Notes notes_;
};

bool has_inferred_limit(const EagerSummary& eager) {
  return eager.node.from == EagerLimit::From::kRecording ||
         eager.network.from == EagerLimit::From::kRecording;
}

/// A note on all scenarios whose network carries nothing.
void add_unused_network(const Results& results, List& notes) {
  const ScenarioResult* first = nullptr;
  std::string names;
  for (const ScenarioResult& scenario : results.scenarios) {
    if (!scenario.network_unused || is_alone(results)) continue;
    if (!first) first = &scenario;
    names += (names.empty() ? "" : ", ") + scenario.name;
  }
  if (!first) return;
  uint64_t messages = 0;
  for (const LevelTraffic& level : first->traffic) messages += level.messages;
  std::vector<std::string> changes = first->changes;
  std::erase_if(changes, [](const std::string& change) {
    return change.starts_with("ppn=") || change.starts_with("placement=");
  });
  changes.emplace_back("ppn=1");
  Note* note = notes.add(NoteKind::kNetworkUnused, 1, names);
  note->count = messages;
  note->instead = scenario_text(first->base, changes);
}

}  // namespace

bool has_unsynchronised_clocks(const TraceSummary& trace) {
  return trace.clock_repair && trace.clock_repair->largest_shift >
                                   std::min(kUnsynchronised, kUnsynchronisedPart * trace.elapsed);
}

Notes warnings_of(const TraceSummary& trace) {
  List notes(trace);
  const auto threads = static_cast<uint64_t>(trace.calling_threads);
  if (trace.joined_threads == 0) notes.add(NoteKind::kThreadsUnjoined, threads);
  for (const std::string& note : trace.notes) notes.add(NoteKind::kReader, 1, note);
  notes.add(NoteKind::kCostUnknown, trace.priced_calls, trace.priced_by);
  if (trace.joined_threads > 0) notes.add(NoteKind::kThreads, threads);
  notes.add(NoteKind::kSilentThreads, static_cast<uint64_t>(std::max(0, trace.silent_threads)));
  notes.add(NoteKind::kWildcards,
            trace.wildcards_by_arrival && trace.wildcards != WildcardsKnown::kAll);
  notes.add(NoteKind::kBackwards, trace.backwards);
  notes.add(NoteKind::kMiscounted, trace.miscounted);
  notes.add(NoteKind::kMisfits, trace.misfits);
  notes.add(NoteKind::kOpenReceives, trace.open_receives);
  notes.add(NoteKind::kOpenCollectives, trace.open_collectives);
  notes.add(NoteKind::kAbandonedCollectives, trace.abandoned_collectives);
  notes.add(NoteKind::kAbandonedEpochs, trace.abandoned_epochs);
  notes.add(NoteKind::kUnsynchronised, has_unsynchronised_clocks(trace));
  return notes.take();
}

Notes notes_on(const TraceSummary& trace) {
  List notes(trace);
  notes.add(NoteKind::kPolling, trace.spinning_calls, "", trace.spinning_time);
  notes.add(NoteKind::kUnmatchedSends, trace.unmatched_sends, trace.unmatched_send);
  notes.add(NoteKind::kUnmatchedReceives, trace.unmatched_receives, trace.unmatched_receive);
  notes.add(NoteKind::kClockViolations, trace.clock_violations.total(),
            trace.clock_violations.first);
  notes.add(NoteKind::kEagerLimit, has_inferred_limit(trace.eager));
  notes.append(warnings_of(trace));
  return notes.take();
}

Notes notes_on(const Roles& roles) {
  List notes(roles.results->trace);
  notes.append(notes_on(roles.results->trace));
  add_unused_network(*roles.results, notes);
  if (!roles.measured || roles.measured->ranks.empty()) return notes.take();
  const double window = mean_window(roles.measured->ranks);
  const auto add = [&](NoteKind kind, double RankResult::*seconds, double least) {
    const double time = mean(roles.measured->ranks, seconds);
    if (time > least * window) notes.add(kind, 1, "", time)->window = window;
  };
  add(NoteKind::kNotRecorded, &RankResult::not_recorded, 0);
  add(NoteKind::kFlushing, &RankResult::flushing, kLeastLost);
  add(NoteKind::kLostCores, &RankResult::lost_core, kLeastLost);
  return notes.take();
}

Notes warnings_of(const ScenarioResult& scenario) {
  List notes(scenario);
  notes.add(NoteKind::kOverheadUnknown, scenario.overhead_unknown);
  double compute = 0;
  for (const RankResult& rank : scenario.ranks) compute += rank.compute;
  if (compute > 0 && scenario.clipped_time > kClippedPart * compute) {
    Note* note = notes.add(NoteKind::kOverheadClipped, 1, "", scenario.clipped_time);
    note->count = scenario.clipped_overheads;
  }
  notes.add(NoteKind::kSocketsUnused, scenario.sockets_unused != SocketsUnused::kNo);
  for (const auto& [level, priced_as] : scenario.priced_as) {
    Note* note = notes.add(NoteKind::kPricedAs, 1, kLevelNames[static_cast<size_t>(level)]);
    note->instead = kLevelNames[static_cast<size_t>(priced_as)];
  }
  notes.add(NoteKind::kChangesNothing, scenario.changes_nothing);
  for (const std::string& name : scenario.absent_collectives)
    notes.add(NoteKind::kAbsentCollective, 1, name);
  notes.add(NoteKind::kNoPorts, scenario.no_ports);
  notes.add(NoteKind::kWouldStarve, scenario.wildcard_matching == WildcardMatching::kWouldStarve);
  notes.add(NoteKind::kRematched, scenario.wildcard_matching == WildcardMatching::kByArrival);
  notes.add(NoteKind::kTookFirst, scenario.took_first);
  notes.add(NoteKind::kTookRecorded, scenario.took_recorded);
  notes.add(NoteKind::kDegradationFit, scenario.degradation_fit.has_value());
  return notes.take();
}

Notes notes_on(const ScenarioResult& scenario) {
  List notes(scenario);
  notes.add(NoteKind::kDeadlock, !scenario.deadlock.empty(), scenario.deadlock);
  notes.add(NoteKind::kContradicted, scenario.contradicted_outcomes, "",
            scenario.contradicted_time);
  notes.add(NoteKind::kGrade, !scenario.grade.empty(), scenario.grade);
  notes.add(NoteKind::kFewNodes, static_cast<uint64_t>(scenario.measured_nodes));
  notes.append(warnings_of(scenario));
  return notes.take();
}

}  // namespace rubato
