#include "tools/analysis/warnings.h"

#include <fmt/core.h>

#include <algorithm>

#include "replay/study/fit_degradation.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

/// Clocks count as unsynchronised if the repair moved times by more than so many seconds, or by
/// more than that part of the run. (A message between two nodes takes about a microsecond.)
constexpr double kUnsynchronised = 1e-3;
constexpr double kUnsynchronisedPart = 0.1;

/// Overhead that could not be subtracted is reported above this share of the compute time.
constexpr double kClippedPart = 0.01;

using Sentences = std::vector<std::string>;

/// Warns of unknown waits between threads of a rank; as the first line if no join is recorded.
void warn_of_threads(const TraceSummary& trace, Sentences& lines) {
  const auto threads = static_cast<uint64_t>(trace.calling_threads);
  if (threads == 0) return;
  const std::string begin =
      threads == 1
          ? "1 thread besides the main thread of its rank calls MPI. "
          : fmt::format("{} threads besides the main threads of their ranks call MPI. ", threads);
  const char* const otherwise = "such waits count as compute";
  if (trace.joined_threads == 0) {
    lines.insert(lines.begin(),
                 fmt::format("{}No joins of threads are recorded, so waits between threads "
                             "outside of MPI are unknown: {}",
                             begin, otherwise));
    return;
  }
  const std::string joined =
      trace.joined_threads < threads
          ? fmt::format("The joins of {} of {} are", trace.joined_threads, threads)
          : std::string(threads == 1 ? "Its join is" : "Their joins are");
  lines.push_back(
      fmt::format("{}{} recorded and replayed; other waits between threads, such as for locks, "
                  "are unknown: {}",
                  begin, joined, otherwise));
}

void warn_of_wildcards(const TraceSummary& trace, Sentences& lines) {
  if (!trace.wildcards_by_arrival || trace.wildcards == WildcardsKnown::kAll) return;
  const bool none = trace.wildcards == WildcardsKnown::kNone;
  lines.push_back(
      fmt::format("the archive does not record which {}receives used MPI_ANY_SOURCE or "
                  "MPI_ANY_TAG: {} are matched as recorded",
                  none ? "" : "blocking ", none ? "all" : "they"));
}

void warn_of_open(const Oddity& open, const std::string& what, Sentences& lines) {
  if (open.count == 0) return;
  const bool one = open.count == 1;
  lines.push_back(
      fmt::format("{} in the archive, the first at {}: {} left out",
                  counted(open.count, what + " never completes", what + "s never complete"),
                  open.first, one ? "it is" : "they are"));
}

}  // namespace

bool has_unsynchronised_clocks(const TraceSummary& trace) {
  return trace.clock_repair && trace.clock_repair->largest_shift >
                                   std::min(kUnsynchronised, kUnsynchronisedPart * trace.elapsed);
}

std::vector<std::string> warnings_about(const TraceSummary& trace) {
  Sentences lines = trace.notes;
  if (trace.priced_calls > 0) {
    lines.push_back(fmt::format(
        "the cost without waiting of {} is unknown, because by the clocks of the archive all "
        "calls of their kind end before their cause; scenarios in which they wait less assume {}",
        counted(trace.priced_calls, "waiting call", "waiting calls"),
        trace.priced_by.empty() ? "zero" : fmt::format("the message cost of {}", trace.priced_by)));
  }
  warn_of_threads(trace, lines);
  if (trace.silent_threads > 0) {
    lines.push_back(fmt::format(
        "{} no MPI call. Waits of ranks for such threads outside of MPI are unknown and count as "
        "compute",
        trace.silent_threads == 1 ? "1 thread makes"
                                  : fmt::format("{} threads make", trace.silent_threads)));
  }
  warn_of_wildcards(trace, lines);
  if (trace.backwards.count > 0) {
    lines.push_back(
        fmt::format("{} than the record before, the first at {}: a clock ran backwards, and times "
                    "near these records are wrong in every scenario",
                    counted(trace.backwards.count, "record is earlier", "records are earlier"),
                    trace.backwards.first));
  }
  if (trace.miscounted.count > 0) {
    lines.push_back(fmt::format(
        "{} a different number of records than defined, the first is {}: the records in the event "
        "files were replayed",
        counted(trace.miscounted.count, "location has", "locations have"), trace.miscounted.first));
  }
  if (trace.misfits.count > 0) {
    lines.push_back(fmt::format(
        "the archive is inconsistent: {} different lengths at sender and receiver, the first at "
        "{}; such messages are matched by order; times use the sent length, sums of received "
        "bytes the received one",
        counted(trace.misfits.count, "message has", "messages have"), trace.misfits.first));
  }
  warn_of_open(trace.open_receives, "posted receive", lines);
  warn_of_open(trace.open_collectives, "started collective", lines);
  if (trace.abandoned_collectives > 0) {
    lines.push_back(
        fmt::format("{} of other members: {} recorded time",
                    counted(trace.abandoned_collectives, "collective call lacks the calls",
                            "collective calls lack the calls"),
                    trace.abandoned_collectives == 1 ? "it keeps its" : "they keep their"));
  }
  if (trace.abandoned_epochs > 0) {
    lines.push_back(
        fmt::format("{} calls of MPI_Win_start, MPI_Win_complete or MPI_Win_wait lack the "
                    "matching calls of their targets or origins: they keep their recorded time",
                    trace.abandoned_epochs));
  }
  if (has_unsynchronised_clocks(trace)) {
    lines.emplace_back(
        "the clocks of the ranks were not synchronised: recorded waits between ranks are not "
        "reliable");
  }
  return lines;
}

namespace {

const char* sentence_on(SocketsUnused sockets) {
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
  return nullptr;
}

std::string sentence_on(const DegradationFit& fit) {
  if (fit.ratio) {
    return fmt::format("the fitted degradation ratio is {:.4g}, which gives the measured {:.4g} s",
                       *fit.ratio, fit.measured);
  }
  return fmt::format(
      "no degradation ratio gives the measured {:.4g} s: at {:.4g} the run takes {:.4g} s, at "
      "{:.4g} it takes {:.4g} s",
      fit.measured, kLeastDegradation, fit.least, kMostDegradation, fit.most);
}

}  // namespace

std::vector<std::string> warnings_about(const ScenarioResult& scenario) {
  Sentences lines;
  if (scenario.overhead_unknown) {
    lines.emplace_back(
        "the archive does not record the tracing overhead, so undisturbed equals measured; "
        "specify it with --overhead");
  }
  double compute = 0;
  for (const RankResult& rank : scenario.ranks) compute += rank.compute;
  if (compute > 0 && scenario.clipped_time > kClippedPart * compute) {
    lines.push_back(fmt::format(
        "in {} the recorded time is shorter than the tracing overhead: {} of overhead could not "
        "be subtracted",
        counted(scenario.clipped_overheads, "place", "places"),
        show_seconds(scenario.clipped_time)));
  }
  if (const char* sentence = sentence_on(scenario.sockets_unused)) lines.emplace_back(sentence);
  for (const auto& [level, priced_as] : scenario.priced_as) {
    lines.push_back(fmt::format(
        "messages of level '{}' are priced as level '{}': the platform has no [level.{}]",
        kLevelNames[static_cast<size_t>(level)], kLevelNames[static_cast<size_t>(priced_as)],
        kLevelNames[static_cast<size_t>(level)]));
  }
  if (scenario.changes_nothing) lines.emplace_back("its changes affect no message of this run");
  for (const std::string& name : scenario.absent_collectives)
    lines.push_back(fmt::format("this run calls no {}: the change has no effect", name));
  if (scenario.no_ports) {
    lines.emplace_back(
        "the model has no ports: a rank transfers any number of messages at once, each at full "
        "bandwidth; use loggps, a platform file or contention= to limit them");
  }
  if (scenario.wildcard_matching == WildcardMatching::kWouldStarve) {
    lines.emplace_back(
        "receives are matched as recorded: matching by arrival would leave ranks waiting forever "
        "for messages that were not sent in the recording");
  } else if (scenario.wildcard_matching == WildcardMatching::kByArrival) {
    lines.push_back(
        fmt::format("{} of {} wildcard receives took a message with another source or tag than "
                    "recorded",
                    scenario.rematched_receives, scenario.wildcard_receives));
  }
  if (scenario.took_first > 0) {
    lines.push_back(
        fmt::format("{} of MPI_Waitany or similar completed the first message to arrive",
                    counted(scenario.took_first, "call", "calls")));
  }
  if (scenario.took_recorded > 0) {
    lines.push_back(
        fmt::format("{} of MPI_Waitany or similar completed the recorded messages: later calls "
                    "may depend on the choice",
                    counted(scenario.took_recorded, "call", "calls")));
  }
  if (scenario.degradation_fit) lines.push_back(sentence_on(*scenario.degradation_fit));
  return lines;
}

}  // namespace rubato
