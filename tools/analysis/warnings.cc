#include "tools/analysis/warnings.h"

#include <fmt/core.h>

#include <algorithm>

#include "replay/run/fit_degradation.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

/// Times that had to be moved by more than as many seconds, or than that part of the run, are of
/// clocks that nobody compared: a message between two nodes takes a thousandth of it.
constexpr double kUnsynchronised = 1e-3;
constexpr double kUnsynchronisedPart = 0.1;

/// Overhead that could not be taken out is worth a word from that part of the compute time on.
constexpr double kClippedPart = 0.01;

using Sentences = std::vector<std::string>;

/// Whether waits among the threads of a rank are known. First of all where nothing is.
void warn_of_threads(const TraceSummary& trace, Sentences& lines) {
  const auto threads = static_cast<uint64_t>(trace.calling_threads);
  if (threads == 0) return;
  const std::string begin =
      threads == 1
          ? "1 thread calls MPI beside the main one of its rank. "
          : fmt::format("{} threads call MPI beside the main ones of their ranks. ", threads);
  const char* const otherwise =
      "between their MPI calls each keeps its own time, and such waiting counts as compute";
  if (trace.joined_threads == 0) {
    lines.insert(lines.begin(),
                 fmt::format("{}Where threads of a rank wait for each other outside of MPI is not "
                             "known, as no join is on record: {}",
                             begin, otherwise));
    return;
  }
  const std::string joined =
      trace.joined_threads < threads
          ? fmt::format("The joins of {} of {} are", trace.joined_threads, threads)
          : std::string(threads == 1 ? "Its join is" : "Their joins are");
  lines.push_back(
      fmt::format("{}{} on record and replayed; other waits among threads, such as for locks, are "
                  "not known: {}",
                  begin, joined, otherwise));
}

void warn_of_wildcards(const TraceSummary& trace, Sentences& lines) {
  if (!trace.wildcards_by_arrival || trace.wildcards == WildcardsKnown::kAll) return;
  const bool none = trace.wildcards == WildcardsKnown::kNone;
  lines.push_back(
      fmt::format("the archive does not say which {}receives named MPI_ANY_SOURCE or MPI_ANY_TAG: "
                  "{} are matched as recorded",
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
        "{} waited whose own cost nothing in the archive bounds, as its clocks put all of "
        "their kind before what they waited for: taken as {} where a scenario has them wait less",
        counted(trace.priced_calls, "call", "calls"),
        trace.priced_by.empty() ? "nothing"
                                : fmt::format("what {} says of messages", trace.priced_by)));
  }
  warn_of_threads(trace, lines);
  if (trace.silent_threads > 0) {
    lines.push_back(fmt::format(
        "{} no MPI call. Where ranks wait for them outside of MPI is not known, and "
        "counts as compute",
        trace.silent_threads == 1 ? "1 thread makes"
                                  : fmt::format("{} threads make", trace.silent_threads)));
  }
  warn_of_wildcards(trace, lines);
  if (trace.backwards.count > 0) {
    lines.push_back(
        fmt::format("{} than the one before, the first at {}: a clock ran backwards, and the time "
                    "around there is wrong in every scenario",
                    counted(trace.backwards.count, "record is earlier", "records are earlier"),
                    trace.backwards.first));
  }
  if (trace.miscounted.count > 0) {
    lines.push_back(fmt::format(
        "{} more or fewer records than the definition claims, the first is {}: the records in the "
        "event files were replayed",
        counted(trace.miscounted.count, "location has", "locations have"), trace.miscounted.first));
  }
  if (trace.misfits.count > 0) {
    lines.push_back(fmt::format(
        "the archive contradicts itself: {} two lengths on record, the first at {}; "
        "messages there are matched by order; times follow the length that was sent, and sums of "
        "received bytes the one that was received",
        counted(trace.misfits.count, "message has", "messages have"), trace.misfits.first));
  }
  warn_of_open(trace.open_receives, "posted receive", lines);
  warn_of_open(trace.open_collectives, "started collective", lines);
  if (trace.abandoned_collectives > 0) {
    lines.push_back(
        fmt::format("{} of other members: {} time",
                    counted(trace.abandoned_collectives, "collective call lacks the calls",
                            "collective calls lack the calls"),
                    trace.abandoned_collectives == 1 ? "it keeps its" : "they keep their"));
  }
  if (trace.abandoned_epochs > 0) {
    lines.push_back(
        fmt::format("{} calls of MPI_Win_start, MPI_Win_complete or MPI_Win_wait lack the calls of "
                    "the other side: they keep their time",
                    trace.abandoned_epochs));
  }
  if (has_unsynchronised_clocks(trace)) {
    lines.emplace_back(
        "the clocks of the ranks were not synchronised: what the archive says about waiting "
        "between ranks means little");
  }
  return lines;
}

namespace {

const char* sentence_on(SocketsUnused sockets) {
  switch (sockets) {
    case SocketsUnused::kNo:
      break;
    case SocketsUnused::kNotPriced:
      return "its sockets change nothing, as the platform has no [level.socket]: messages inside a "
             "socket cost what others of the node do";
    case SocketsUnused::kNotRecorded:
      return "the archive does not say which ranks share a socket, so [level.socket] is not used; "
             "sockets=N puts the ranks of a node on N sockets";
    case SocketsUnused::kNotPlaced:
      return "its placement does not say which ranks share a socket, so [level.socket] is not "
             "used; sockets=N puts the ranks of a node on N sockets";
  }
  return nullptr;
}

std::string sentence_on(const DegradationFit& fit) {
  if (fit.ratio) {
    return fmt::format(
        "the degradation ratio is {:.4g}: with it the run takes the measured {:.4g} s", *fit.ratio,
        fit.measured);
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
        "the archive does not say what recording cost, so undisturbed is measured; --overhead "
        "gives figures");
  }
  double compute = 0;
  for (const RankResult& rank : scenario.ranks) compute += rank.compute;
  if (compute > 0 && scenario.clipped_time > kClippedPart * compute) {
    lines.push_back(fmt::format(
        "in {} the archive holds less time than recording should have cost: {} of overhead could "
        "not be taken out",
        counted(scenario.clipped_overheads, "place", "places"),
        show_seconds(scenario.clipped_time)));
  }
  if (const char* sentence = sentence_on(scenario.sockets_unused)) lines.emplace_back(sentence);
  for (const auto& [level, priced_as] : scenario.priced_as) {
    lines.push_back(fmt::format(
        "messages of level '{}' cost what those of level '{}' do: the platform has no [level.{}]",
        kLevelNames[static_cast<size_t>(level)], kLevelNames[static_cast<size_t>(priced_as)],
        kLevelNames[static_cast<size_t>(level)]));
  }
  if (scenario.changes_nothing) lines.emplace_back("its changes touch no message of this run");
  for (const std::string& name : scenario.absent_collectives)
    lines.push_back(fmt::format("there is no {} in this run to change", name));
  if (scenario.no_ports) {
    lines.emplace_back(
        "this machine has no ports: a rank sends and receives any number of messages at once, each "
        "at full bandwidth; loggps, a platform file or contention= limit them");
  }
  if (scenario.wildcard_matching == WildcardMatching::kWouldStarve) {
    lines.emplace_back(
        "receives are matched as recorded: taking whichever message comes first, ranks would wait "
        "for ever for others that the program then did not hear from");
  } else if (scenario.wildcard_matching == WildcardMatching::kByArrival) {
    lines.push_back(
        fmt::format("{} receives took a message with another source or tag than recorded; {} may "
                    "take any",
                    scenario.rematched_receives, scenario.wildcard_receives));
  }
  if (scenario.took_first > 0) {
    lines.push_back(fmt::format(
        "{} of MPI_Waitany and its like could choose, and took the messages that came first",
        counted(scenario.took_first, "call", "calls")));
  }
  if (scenario.took_recorded > 0) {
    lines.push_back(
        fmt::format("{} of MPI_Waitany and its like took the messages recorded: no other call "
                    "followed at once, or what follows may depend on them",
                    counted(scenario.took_recorded, "call", "calls")));
  }
  if (scenario.degradation_fit) lines.push_back(sentence_on(*scenario.degradation_fit));
  return lines;
}

}  // namespace rubato
