#include "tools/words/note_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/error.h"
#include "models/platform/uncertainty.h"
#include "replay/calls/polling.h"
#include "replay/judge/finding_rows.h"
#include "replay/study/fit_degradation.h"
#include "tools/files/run_times.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

std::string such_as(const Note& note) {
  return note.what.empty() ? "" : fmt::format(" (such as {})", note.what);
}

std::string repair_text(const Note& note) {
  const ClockViolations& before = note.trace->clock_violations;
  const ClockRepair& repair = *note.trace->clock_repair;
  return fmt::format(
      "({}, {}). The clock repair moved calls of {} later, by up to {}: afterwards {}",
      counted(before.messages, "message", "messages"),
      counted(before.collectives, "collective", "collectives"),
      counted(repair.ranks, "rank", "ranks"), show_seconds(repair.largest_shift),
      repair.after.total() == 0
          ? "none does"
          : fmt::format("{}, the first at {}",
                        counted(repair.after.total(), "still does", "still do"),
                        repair.after.first));
}

/// The eager limits that were inferred from recorded sends.
std::string eager_limits(const Note& note) {
  const EagerSummary& eager = note.trace->eager;
  std::string limits;
  for (const auto& [limit, where] :
       {std::pair{eager.node, "on a node"}, {eager.network, "between nodes"}}) {
    if (limit.from != EagerLimit::From::kRecording) continue;
    limits += fmt::format("{}of more than {} {}", limits.empty() ? "" : " and ",
                          show_bytes(*limit.bytes), where);
  }
  return limits;
}

std::string joins_are(const Note& note) {
  const uint64_t joined = note.trace->joined_threads;
  if (joined < note.count) return fmt::format("The joins of {} of {} are", joined, note.count);
  return note.count == 1 ? "Its join is" : "Their joins are";
}

std::string wildcard_line(const Note& note) {
  const bool none = note.trace->wildcards == WildcardsKnown::kNone;
  return fmt::format(
      "the archive does not record which {}receives used MPI_ANY_SOURCE or MPI_ANY_TAG: {} are "
      "matched as recorded",
      none ? "" : "blocking ", none ? "all" : "they");
}

std::string fit_line(const Note& note) {
  const DegradationFit& fit = *note.scenario->degradation_fit;
  if (fit.ratio) {
    return fmt::format("the fitted degradation ratio is {:.4g}, which gives the measured {:.4g} s",
                       *fit.ratio, fit.measured);
  }
  return fmt::format(
      "no degradation ratio gives the measured {:.4g} s: at {:.4g} the run takes {:.4g} s, at "
      "{:.4g} it takes {:.4g} s",
      fit.measured, kLeastDegradation, fit.least, kMostDegradation, fit.most);
}

/// "0 of 16,816 messages cross the network (all ranks on 1 node)"
std::string unused_line(const Note& note) {
  return fmt::format(
      "{} the network ({})",
      note.count > 0 ? fmt::format("0 of {} cross", counted(note.count, "message", "messages"))
                     : "no collective crosses",
      note.trace->nodes == 1 && note.trace->ranks > 1 ? "all ranks on 1 node"
                                                      : "ranks that communicate share a node");
}

std::string assumed_cost(const Note& note) {
  return note.what.empty() ? "zero" : "the message cost of " + note.what;
}

std::string rematched(const Note& note) {
  return fmt::format("{} of {}", note.scenario->rematched_receives,
                     note.scenario->wildcard_receives);
}

/// The sentence of a kind of notes: <one|many> depends on their number {n}, also {count} without
/// separators; {time} is their seconds and {share} that of the run, {what} and {instead} are as in
/// Note, and {more} is what `more` returns.
struct NoteWords {
  NoteKind kind;
  const char* sentence;
  std::string (*more)(const Note&) = nullptr;
};

constexpr std::array<NoteWords, kNoteKinds> note_words() {
  using enum NoteKind;
  return {{
      {kPolling,
       "{n} <call polled|calls polled> in a loop or in MPI_Probe ({time} in total): modelled "
       "machines treat each loop as one wait, unless --polling keep is given."},
      {kUnmatchedSends, "{n} send<|s> without a receive{more}: treated as eager and dropped.",
       such_as},
      {kUnmatchedReceives, "{n} receive<|s> without a send{more}: the recorded time is kept.",
       such_as},
      {kEarlyReturns,
       "{n} <call ends|calls end> before another rank reached the same operation, by the clock "
       "that all ranks share, the first at {what}: the library let them return early; their times "
       "are kept."},
      {kClockViolations,
       "{n} <call ends|calls end> before their cause, by the clocks of the archive: the clocks are "
       "not synchronised."},
      {kClockRepair,
       "{n} <call ends|calls end> before their cause, by the clocks of the archive {more}.",
       repair_text},
      {kEagerLimit,
       "Sends {more} wait for their receivers: the limit was inferred from a recorded send, "
       "because neither the archive nor --eager-limit gives it.",
       eager_limits},
      {kThreadsUnjoined,
       "{count} <thread besides the main thread of its rank calls|threads besides the main threads "
       "of their ranks call> MPI. No joins of threads are recorded, so waits between threads "
       "outside of MPI are unknown: such waits count as compute"},
      {kReader, "{what}"},
      {kCostUnknown,
       "the cost without waiting of {n} waiting call<|s> is unknown, because by the clocks of the "
       "archive all calls of their kind end before their cause; scenarios in which they wait less "
       "assume {more}",
       assumed_cost},
      {kThreads,
       "{count} <thread besides the main thread of its rank calls|threads besides the main threads "
       "of their ranks call> MPI. {more} recorded and replayed; other waits between threads, such "
       "as for locks, are unknown: such waits count as compute",
       joins_are},
      {kSilentThreads,
       "{count} <thread makes|threads make> no MPI call. Waits of ranks for such threads outside "
       "of MPI are unknown and count as compute"},
      {kWildcards, "{more}", wildcard_line},
      {kBackwards,
       "{n} <record is earlier|records are earlier> than the record before, the first at {what}: a "
       "clock ran backwards, and times near these records are wrong in every scenario"},
      {kMiscounted,
       "{n} <location has|locations have> a different number of records than defined, the first is "
       "{what}: the records in the event files were replayed"},
      {kMisfits,
       "the archive is inconsistent: {n} <message has|messages have> different lengths at sender "
       "and receiver, the first at {what}; such messages are matched by order; times use the sent "
       "length, sums of received bytes the received one"},
      {kOpenReceives,
       "{n} posted <receive never completes|receives never complete> in the archive, the first at "
       "{what}: <it is|they are> left out"},
      {kOpenCollectives,
       "{n} started <collective never completes|collectives never complete> in the archive, the "
       "first at {what}: <it is|they are> left out"},
      {kAbandonedCollectives,
       "{n} collective <call lacks|calls lack> the calls of other members: <it keeps its|they keep "
       "their> recorded time"},
      {kAbandonedEpochs,
       "{count} calls of MPI_Win_start, MPI_Win_complete or MPI_Win_wait lack the matching calls "
       "of their targets or origins: they keep their recorded time"},
      {kUnsynchronised,
       "the clocks of the ranks were not synchronised: recorded waits between ranks are not "
       "reliable"},
      {kNetworkUnused, "{what}: {more}; to use it, try {instead}.", unused_line},
      {kNotRecorded,
       "{time} ({share}) of the mean rank was not recorded because measurement was switched off: "
       "it counts as neither compute nor MPI, and is the same in every scenario."},
      {kFlushing,
       "the tracer flushed its buffer for {time} ({share}) of the mean rank: only measured "
       "includes this time."},
      {kLostCores,
       "the mean rank was descheduled for {time} ({share}){more}: undisturbed and platforms "
       "exclude "
       "this time (--keep-stolen includes it).",
       [](const Note& note) { return note.what.empty() ? "" : "; " + note.what; }},
      {kDeadlock, "the program deadlocks on this machine: {what}"},
      {kContradicted,
       "{n} outcome<|s> of MPI_Test, MPI_Iprobe, MPI_Waitany and similar <stays|stay> as recorded, "
       "although messages arrive in another order or at other times on this machine; "
       "this affects {time} of the time of all ranks."},
      {kGrade, "the calibration has deficiencies ({what})."},
      {kFewNodes,
       "the platform file was measured on {n} node<|s>, which does not show how more nodes share "
       "the network: an interval allows for that; calibrate on {more} nodes or more.",
       [](const Note&) { return std::to_string(kNodesThatShare); }},
      {kOverheadUnknown,
       "the archive does not record the tracing overhead, so undisturbed equals measured; specify "
       "it with --overhead"},
      {kOverheadClipped,
       "in {n} place<|s> the recorded time is shorter than the tracing overhead: {time} of "
       "overhead could not be subtracted"},
      {kSocketsNotPriced,
       "sockets= has no effect: the platform has no [level.socket], so messages within a socket "
       "cost the same as others within the node"},
      {kSocketsNotRecorded,
       "the archive does not record the sockets of ranks, so [level.socket] is not used; sockets=N "
       "distributes the ranks of a node over N sockets"},
      {kSocketsNotPlaced,
       "its placement does not define the sockets of ranks, so [level.socket] is not used; "
       "sockets=N distributes the ranks of a node over N sockets"},
      {kPricedAs,
       "messages of level '{what}' are priced as level '{instead}': the platform has no "
       "[level.{what}]"},
      {kChangesNothing, "its changes affect no message of this run"},
      {kAbsentCollective, "this run calls no {what}: the change has no effect"},
      {kNoPorts,
       "the model has no ports: a rank transfers any number of messages at once, each at full "
       "bandwidth; use loggps, a platform file or contention= to limit them"},
      {kWouldStarve,
       "receives are matched as recorded: matching by arrival would leave ranks waiting forever "
       "for messages that were not sent in the recording"},
      {kRematched,
       "{more} wildcard receives took a message with another source or tag than recorded",
       rematched},
      {kTookFirst, "{n} call<|s> of MPI_Waitany or similar completed the first message to arrive"},
      {kTookRecorded,
       "{n} call<|s> of MPI_Waitany or similar completed the recorded messages: later calls may "
       "depend on the choice"},
      {kDegradationFit, "{more}", fit_line},
  }};
}
constexpr std::array<NoteWords, kNoteKinds> kNoteWords = note_words();
static_assert(has_each_kind(kNoteWords));

std::vector<std::string> sentences(const Notes& notes) {
  std::vector<std::string> lines;
  for (const Note& note : notes) lines.push_back(sentence(note));
  return lines;
}

}  // namespace

std::string sentence(const Note& note) {
  using fmt::arg;
  const NoteWords& words = kNoteWords[static_cast<size_t>(note.kind)];
  std::string text = words.sentence;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const size_t bar = text.find('|', at), end = text.find('>', at);
    text.replace(
        at, end + 1 - at,
        note.count == 1 ? text.substr(at + 1, bar - at - 1) : text.substr(bar + 1, end - bar - 1));
  }
  return fmt::format(fmt::runtime(text), arg("n", show_count(note.count)), arg("count", note.count),
                     arg("time", show_seconds(note.seconds)),
                     arg("share", show_share(note.seconds, note.window)), arg("what", note.what),
                     arg("instead", note.instead), arg("more", words.more ? words.more(note) : ""));
}

std::vector<std::string> warnings_about(const TraceSummary& trace) {
  return sentences(notes_on(trace, true));
}

std::vector<std::string> warnings_about(const ScenarioResult& scenario) {
  return sentences(notes_on(scenario, true));
}

std::vector<std::string> caveats(const TraceSummary& trace) {
  return sentences(notes_on(trace));
}

std::vector<std::string> caveats(const Roles& roles) {
  return sentences(notes_on(roles));
}

std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios) {
  std::vector<std::pair<std::string, std::string>> found;  // a sentence, and names of scenarios
  for (const ScenarioResult& scenario : scenarios) {
    for (const std::string& text : sentences(notes_on(scenario))) {
      const auto same = std::ranges::find(found, text, &std::pair<std::string, std::string>::first);
      if (same == found.end())
        found.emplace_back(text, scenario.name);
      else
        same->second += ", " + scenario.name;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [text, names] : found) lines.push_back(names + ": " + text);
  return lines;
}

std::string kept_calls_line(const TraceSummary& trace) {
  // Archives of other tracers do not record which calls they could observe.
  const bool all_seen = trace.unwatched == "none";
  const std::string unseen =
      all_seen || trace.unwatched.empty()
          ? ""
          : fmt::format(" Calls by {} may be missing: they bypass the tracer.", trace.unwatched);
  if (trace.kept.empty()) {
    return fmt::format("Every {}MPI call that communicates is replayed.{}",
                       all_seen ? "" : "recorded ", unseen);
  }
  double time = 0;
  std::string names, hidden;
  for (const KeptCall& kept : trace.kept) {
    time += kept.time;
    if (awaits_message(kept.call)) hidden = " Kept probes may hide waits for late senders.";
    names += fmt::format("{}{} ({}, {}{}{})", names.empty() ? "" : "; ", kept.call,
                         counted(kept.count, "call", "calls"), show_seconds(kept.time),
                         kept.first_at.empty() ? "" : ", first at ", kept.first_at);
  }
  return fmt::format("{} of MPI time is kept as recorded because it cannot be replayed: {}.{}{}",
                     show_share(time, trace.mpi_time), names, hidden, unseen);
}

std::string runs_line(const TraceSummary& trace) {
  const RunTimes runs = elapsed_of_runs(trace.path, trace.elapsed);
  if (runs.seconds.empty()) return runs.note;
  return "Elapsed of " + show_runs(runs.seconds) + "; this is the median.";
}

void refuse_kept_calls(const TraceSummary& trace) {
  if (trace.kept.empty() && (trace.unwatched.empty() || trace.unwatched == "none")) return;
  throw InputError(fmt::format("{}: --strict: {}", trace.path, kept_calls_line(trace)));
}

std::string identity_line(const IdentityResult& identity) {
  if (identity.differing == 0) {
    return fmt::format("Verified: measured reproduces all {} records exactly.",
                       show_count(identity.records));
  }
  const std::string reason =
      identity.backwards > 0
          ? fmt::format("In the archive {} earlier than the record before: a clock ran backwards",
                        counted(identity.backwards, "record is", "records are"))
          : "This is an error in Rubato";
  return fmt::format(
      "NOT VERIFIED: {} of {} records of \"measured\" deviate from the recording, by up to {} "
      "ticks, the first at {}. {}: do not trust the results.",
      show_count(identity.differing), show_count(identity.records), identity.worst_ticks,
      identity.first, reason);
}

}  // namespace rubato
