#include "tools/words/note_words.h"

#include <fmt/core.h>

#include "models/base/error.h"
#include "models/platform/uncertainty.h"
#include "replay/calls/polling.h"
#include "replay/study/fit_degradation.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

std::string such_as(const std::string& example) {
  return example.empty() ? "" : fmt::format(" (such as {})", example);
}

std::string clock_line(const TraceSummary& trace) {
  if (trace.one_clock) {
    return fmt::format(
        "{} before another rank reached the same operation, by the clock that all ranks share, "
        "the first at {}: the library let them return early; their times are kept.",
        counted(trace.clock_violations.total(), "call ends", "calls end"),
        trace.clock_violations.first);
  }
  const std::string violations =
      fmt::format("{} before their cause, by the clocks of the archive",
                  counted(trace.clock_violations.total(), "call ends", "calls end"));
  if (!trace.clock_repair) return violations + ": the clocks are not synchronised.";
  const ClockRepair& repair = *trace.clock_repair;
  return fmt::format(
      "{} ({}, {}). The clock repair moved calls of {} later, by up to {}: "
      "afterwards {}.",
      violations, counted(trace.clock_violations.messages, "message", "messages"),
      counted(trace.clock_violations.collectives, "collective", "collectives"),
      counted(repair.ranks, "rank", "ranks"), show_seconds(repair.largest_shift),
      repair.after.total() == 0
          ? "none does"
          : fmt::format("{}, the first at {}",
                        counted(repair.after.total(), "still does", "still do"),
                        repair.after.first));
}

/// The eager limits that were inferred from recorded sends.
std::string eager_line(const EagerSummary& eager) {
  std::string limits;
  for (const auto& [limit, where] :
       {std::pair{eager.node, "on a node"}, {eager.network, "between nodes"}}) {
    if (limit.from != EagerLimit::From::kRecording) continue;
    limits += fmt::format("{}of more than {} {}", limits.empty() ? "" : " and ",
                          show_bytes(*limit.bytes), where);
  }
  return fmt::format(
      "Sends {} wait for their receivers: the limit was inferred from a recorded send, because "
      "neither the archive nor --eager-limit gives it.",
      limits);
}

std::string thread_line(const TraceSummary& trace) {
  const auto threads = static_cast<uint64_t>(trace.calling_threads);
  const std::string begin =
      threads == 1
          ? "1 thread besides the main thread of its rank calls MPI. "
          : fmt::format("{} threads besides the main threads of their ranks call MPI. ", threads);
  const char* const otherwise = "such waits count as compute";
  if (trace.joined_threads == 0) {
    return fmt::format(
        "{}No joins of threads are recorded, so waits between threads outside of MPI are unknown: "
        "{}",
        begin, otherwise);
  }
  const std::string joined =
      trace.joined_threads < threads
          ? fmt::format("The joins of {} of {} are", trace.joined_threads, threads)
          : std::string(threads == 1 ? "Its join is" : "Their joins are");
  return fmt::format(
      "{}{} recorded and replayed; other waits between threads, such as for locks, are unknown: {}",
      begin, joined, otherwise);
}

std::string wildcard_line(const TraceSummary& trace) {
  const bool none = trace.wildcards == WildcardsKnown::kNone;
  return fmt::format(
      "the archive does not record which {}receives used MPI_ANY_SOURCE or MPI_ANY_TAG: {} are "
      "matched as recorded",
      none ? "" : "blocking ", none ? "all" : "they");
}

std::string open_line(const Note& open, const std::string& what) {
  return fmt::format("{} in the archive, the first at {}: {} left out",
                     counted(open.count, what + " never completes", what + "s never complete"),
                     open.what, open.count == 1 ? "it is" : "they are");
}

std::string socket_line(SocketsUnused sockets) {
  switch (sockets) {
    case SocketsUnused::kNo:
      break;
    case SocketsUnused::kNotPriced:
      return "sockets= has no effect: the platform has no [level.socket], so messages within a "
             "socket cost the same as others within the node";
    case SocketsUnused::kNotRecorded:
      return "the archive does not record the sockets of ranks, so [level.socket] is not used; "
             "sockets=N distributes the ranks of a node over N sockets";
    case SocketsUnused::kNotPlaced:
      return "its placement does not define the sockets of ranks, so [level.socket] is not used; "
             "sockets=N distributes the ranks of a node over N sockets";
  }
  return "";
}

std::string fit_line(const DegradationFit& fit) {
  if (fit.ratio) {
    return fmt::format("the fitted degradation ratio is {:.4g}, which gives the measured {:.4g} s",
                       *fit.ratio, fit.measured);
  }
  return fmt::format(
      "no degradation ratio gives the measured {:.4g} s: at {:.4g} the run takes {:.4g} s, at "
      "{:.4g} it takes {:.4g} s",
      fit.measured, kLeastDegradation, fit.least, kMostDegradation, fit.most);
}

/// "ethernet-1g, infiniband-hdr: 0 of 16,816 messages cross the network ..."
std::string unused_network_line(const Note& note) {
  const std::string what =
      note.count > 0 ? fmt::format("0 of {} cross", counted(note.count, "message", "messages"))
                     : "no collective crosses";
  return fmt::format("{}: {} the network ({}); to use it, try {}.", note.what, what,
                     note.trace->nodes == 1 && note.trace->ranks > 1
                         ? "all ranks on 1 node"
                         : "ranks that communicate share a node",
                     note.instead);
}

}  // namespace

std::string sentence(const Note& note) {
  const auto count = [&](const char* one, const char* many) {
    return counted(note.count, one, many);
  };
  const std::string time = show_seconds(note.seconds);
  const auto share = [&] {
    return fmt::format("{} ({})", time, show_share(note.seconds, note.window));
  };
  switch (note.kind) {
    case NoteKind::kPolling:
      return fmt::format(
          "{} in a loop or in MPI_Probe ({} in total): modelled machines treat each loop as one "
          "wait, unless --polling keep is given.",
          count("call polled", "calls polled"), time);
    case NoteKind::kUnmatchedSends:
      return fmt::format("{} without a receive{}: treated as eager and dropped.",
                         count("send", "sends"), such_as(note.what));
    case NoteKind::kUnmatchedReceives:
      return fmt::format("{} without a send{}: the recorded time is kept.",
                         count("receive", "receives"), such_as(note.what));
    case NoteKind::kClockViolations:
      return clock_line(*note.trace);
    case NoteKind::kEagerLimit:
      return eager_line(note.trace->eager);
    case NoteKind::kThreadsUnjoined:
    case NoteKind::kThreads:
      return thread_line(*note.trace);
    case NoteKind::kReader:
      return note.what;
    case NoteKind::kCostUnknown:
      return fmt::format(
          "the cost without waiting of {} is unknown, because by the clocks of the archive all "
          "calls of their kind end before their cause; scenarios in which they wait less assume {}",
          count("waiting call", "waiting calls"),
          note.what.empty() ? "zero" : fmt::format("the message cost of {}", note.what));
    case NoteKind::kSilentThreads:
      return fmt::format(
          "{} no MPI call. Waits of ranks for such threads outside of MPI are unknown and count as "
          "compute",
          note.count == 1 ? "1 thread makes" : fmt::format("{} threads make", note.count));
    case NoteKind::kWildcards:
      return wildcard_line(*note.trace);
    case NoteKind::kBackwards:
      return fmt::format(
          "{} than the record before, the first at {}: a clock ran backwards, and times near these "
          "records are wrong in every scenario",
          count("record is earlier", "records are earlier"), note.what);
    case NoteKind::kMiscounted:
      return fmt::format(
          "{} a different number of records than defined, the first is {}: the records in the "
          "event files were replayed",
          count("location has", "locations have"), note.what);
    case NoteKind::kMisfits:
      return fmt::format(
          "the archive is inconsistent: {} different lengths at sender and receiver, the first at "
          "{}; such messages are matched by order; times use the sent length, sums of received "
          "bytes the received one",
          count("message has", "messages have"), note.what);
    case NoteKind::kOpenReceives:
      return open_line(note, "posted receive");
    case NoteKind::kOpenCollectives:
      return open_line(note, "started collective");
    case NoteKind::kAbandonedCollectives:
      return fmt::format(
          "{} of other members: {} recorded time",
          count("collective call lacks the calls", "collective calls lack the calls"),
          note.count == 1 ? "it keeps its" : "they keep their");
    case NoteKind::kAbandonedEpochs:
      return fmt::format(
          "{} calls of MPI_Win_start, MPI_Win_complete or MPI_Win_wait lack the matching calls of "
          "their targets or origins: they keep their recorded time",
          note.count);
    case NoteKind::kUnsynchronised:
      return "the clocks of the ranks were not synchronised: recorded waits between ranks are not "
             "reliable";
    case NoteKind::kNetworkUnused:
      return unused_network_line(note);
    case NoteKind::kNotRecorded:
      return fmt::format(
          "{} of the mean rank was not recorded because measurement was switched off: it counts as "
          "neither compute nor MPI, and is the same in every scenario.",
          share());
    case NoteKind::kFlushing:
      return fmt::format(
          "the tracer flushed its buffer for {} of the mean rank: only measured includes this "
          "time.",
          share());
    case NoteKind::kLostCores:
      return fmt::format(
          "the mean rank was descheduled for {}: undisturbed and platforms exclude this time "
          "(--keep-stolen includes it).",
          share());
    case NoteKind::kDeadlock:
      return fmt::format("the program deadlocks on this machine: {}", note.what);
    case NoteKind::kContradicted:
      return fmt::format(
          "{} of MPI_Test, MPI_Iprobe, MPI_Waitany and similar as recorded, although messages "
          "arrive in another order or at other times on this machine; this affects {} of the time "
          "of all ranks.",
          count("outcome stays", "outcomes stay"), time);
    case NoteKind::kGrade:
      return fmt::format("the calibration has deficiencies ({}).", note.what);
    case NoteKind::kFewNodes:
      return fmt::format(
          "the platform file was measured on {}, which does not show how more nodes share the "
          "network: an interval allows for that; calibrate on {} nodes or more.",
          counted(note.count, "node", "nodes"), kNodesThatShare);
    case NoteKind::kOverheadUnknown:
      return "the archive does not record the tracing overhead, so undisturbed equals measured; "
             "specify it with --overhead";
    case NoteKind::kOverheadClipped:
      return fmt::format(
          "in {} the recorded time is shorter than the tracing overhead: {} of overhead could not "
          "be subtracted",
          count("place", "places"), time);
    case NoteKind::kSocketsUnused:
      return socket_line(note.scenario->sockets_unused);
    case NoteKind::kPricedAs:
      return fmt::format(
          "messages of level '{0}' are priced as level '{1}': the platform has no [level.{0}]",
          note.what, note.instead);
    case NoteKind::kChangesNothing:
      return "its changes affect no message of this run";
    case NoteKind::kAbsentCollective:
      return fmt::format("this run calls no {}: the change has no effect", note.what);
    case NoteKind::kNoPorts:
      return "the model has no ports: a rank transfers any number of messages at once, each at "
             "full bandwidth; use loggps, a platform file or contention= to limit them";
    case NoteKind::kWouldStarve:
      return "receives are matched as recorded: matching by arrival would leave ranks waiting "
             "forever for messages that were not sent in the recording";
    case NoteKind::kRematched:
      return fmt::format(
          "{} of {} wildcard receives took a message with another source or tag than recorded",
          note.scenario->rematched_receives, note.scenario->wildcard_receives);
    case NoteKind::kTookFirst:
      return fmt::format("{} of MPI_Waitany or similar completed the first message to arrive",
                         count("call", "calls"));
    case NoteKind::kTookRecorded:
      return fmt::format(
          "{} of MPI_Waitany or similar completed the recorded messages: later calls may depend on "
          "the choice",
          count("call", "calls"));
    case NoteKind::kDegradationFit:
      return fit_line(*note.scenario->degradation_fit);
  }
  return "";
}

namespace {

std::vector<std::string> sentences(const Notes& notes, const std::string& before = "") {
  std::vector<std::string> lines;
  for (const Note& note : notes) lines.push_back(before + sentence(note));
  return lines;
}

}  // namespace

std::vector<std::string> warnings_about(const TraceSummary& trace) {
  return sentences(warnings_of(trace));
}

std::vector<std::string> warnings_about(const ScenarioResult& scenario) {
  return sentences(warnings_of(scenario));
}

std::vector<std::string> caveats(const TraceSummary& trace) {
  return sentences(notes_on(trace));
}

std::vector<std::string> caveats(const Roles& roles) {
  return sentences(notes_on(roles));
}

std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios) {
  std::vector<std::string> lines;
  for (const ScenarioResult& scenario : scenarios) {
    for (std::string& line : sentences(notes_on(scenario), scenario.name + ": "))
      lines.push_back(std::move(line));
  }
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
