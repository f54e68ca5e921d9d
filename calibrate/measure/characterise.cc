// Which messages are measured, and for how long; models/fit/level_fit.cc turns their times into
// curves.
#include "calibrate/measure/characterise.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "calibrate/plan/quick_plan.h"
#include "models/base/error.h"
#include "models/base/units.h"

namespace rubato {
namespace {

// One send that returns early is proof of eager mode; one that returns late may have lost its
// processor, so it is repeated with longer delays: five probes of 2 ms to 32 ms, the first of them
// far above any eager send.
constexpr double kReceiverDelay = 2e-3;  // seconds
constexpr int kProbes = 5;
// Of a quick run: seconds for the check of all bytes, and for the search of the eager limit.
constexpr double kChecks = 1, kSearch = 3;

/// Seconds for each part.
struct Budget {
  double transfer, ports, overhead, synchronous;
};

Budget budget_of(Level level, const Pace& pace) {
  if (level == Level::kSelf) return {pace.seconds(0.6, 4), 0, 0, 0};
  return {pace.seconds(3.5, 20), pace.seconds(2.5, 12), pace.seconds(0.8, 4),
          pace.seconds(0.3, 1.5)};
}

/// Number of series of single messages: two ends, unexpected, two of overlap, and streams.
constexpr int kSinglesSeries = 6;

/// The rules for the sweep of a part of a level; begins the part.
SweepOptions sweep_options(const Effort& effort, double budget, const std::string& what,
                           Level level, const std::string& pattern) {
  SweepOptions options = sweep_options(effort, budget);
  options.lengths = lengths_of(effort.lengths, level, pattern);
  options.busy_budget = effort.begin(budget);
  options.of_loops = effort.of_loops;
  const std::string name = kLevelNames[static_cast<int>(level)];
  tell_left_out(options, effort, what == name ? name : name + " " + what);
  if (effort.progress) {
    options.progress = [&effort, what](const std::string& text) {
      effort.progress(what + ": " + text);
    };
  }
  return options;
}

ProtocolProbe find_protocol(Pair& pair, Level level, const Effort& effort) {
  const double begin = now();
  bool in_time = true;
  const auto eager = [&](size_t bytes) {
    double delay = kReceiverDelay;
    in_time = in_time && !(effort.pace.in_time && now() - begin > kSearch);
    if (!in_time) return false;
    for (int i = 0; i < kProbes; ++i, delay *= 2) {
      const bool early = level == Level::kSelf ? pair.sends_eagerly_to_self(bytes)
                                               : pair.sends_eagerly(bytes, delay);
      if (early) return true;
    }
    return false;
  };
  const std::optional<size_t> limit = find_eager_limit(eager, effort.max_bytes);
  if (!in_time) {
    effort.leave_out(std::string(kLevelNames[static_cast<int>(level)]) +
                     ": the eager limit and the protocol above it");
    return {};
  }
  ProtocolProbe probe;
  if (limit) probe.eager = static_cast<double>(*limit);
  if (limit != effort.max_bytes) probe.waiting = limit ? *probe.eager + 1 : 0;
  return probe;
}

/// Both sides of the eager limit.
std::vector<size_t> lengths_to_look_at(const ProtocolProbe& probe) {
  if (!probe.eager) return {};
  const size_t limit = static_cast<size_t>(*probe.eager);
  return {limit, limit + 1};
}

/// Results that later parts of a level use.
struct Basis {
  Level level;
  ProtocolProbe probe;
  Timings one_way = {};
  Timings receives = {};  ///< of receivers that computed
};

/// Several messages in one direction, two, one, and one in each direction. Their differences, and
/// their ratios to a ping-pong, are used, so they are measured in turn.
void measure_ports(Pair& pair, Basis& basis, const Effort& effort) {
  SweepOptions options = sweep_options(effort, budget_of(basis.level, effort.pace).ports, "ports",
                                       basis.level, "burst");
  options.refine = false;
  options.max_bytes = pair.longest_in_burst();
  take_listed(options, effort);
  options.extra = lengths_to_look_at(basis.probe);
  const auto burst = [&](size_t bytes, int count) {
    return pair.burst(bytes, Pair::burst_length(bytes), count);
  };
  const std::vector<std::pair<const char*, Loop>> patterns = {
      {"beside", [&](size_t bytes, int count) { return pair.ping_pong(bytes, count); }},
      {"single", [&](size_t bytes, int count) { return pair.burst(bytes, 1, count); }},
      {"burst_of_two", [&](size_t bytes, int count) { return pair.burst(bytes, 2, count); }},
      {"burst", burst},
      {"exchange", [&](size_t bytes, int count) { return pair.exchange(bytes, count); }}};
  std::vector<Loop> loops;
  for (const auto& [name, loop] : patterns) loops.push_back(loop);
  std::vector<Timings> timings = sweep_in_turn(loops, options);
  LevelSeries measured{basis.level, {}};
  for (size_t i = 0; i < timings.size(); ++i)
    measured.series.push_back({patterns[i].first, std::move(timings[i])});
  effort.keep(measured);
}

/// Time for which an end computes outside of MPI: longer than a message takes, at any length.
std::function<double(size_t)> time_away(const Timings& one_way) {
  constexpr double kAway = 10e-6;  // seconds, and as long again as a round trip takes
  return [one_way](size_t bytes) {
    const auto at = one_way.lower_bound(bytes);
    return kAway + 2 * (at == one_way.end() ? std::prev(at) : at)->second.min;
  };
}

/// Single messages, each timed alone: at powers of two, since these curves have few segments.
SweepOptions options_of_singles(const Basis& basis, const Effort& effort, const std::string& what,
                                const std::string& pattern) {
  constexpr int kRepetitions = 4;
  SweepOptions options = sweep_options(effort, budget_of(basis.level, effort.pace).overhead, what,
                                       basis.level, pattern);
  options.refine = false;
  options.loop_seconds = 0;
  options.min_round_trips = kRepetitions;
  options.first_cycles = 4;
  // A quick run may have left out longer ones, so time_away() is unknown for them.
  const size_t longest = std::min(effort.max_bytes, basis.one_way.rbegin()->first);
  options.only = {0, longest};
  for (size_t n = 1; n < longest; n *= 2) options.only.insert(n);
  return options;
}

/// Times of receives, and of their two calls separately, from the same loops.
struct Receives {
  Timings both;          ///< used in the fit
  Timings posts, waits;  ///< for information
};

Receives sweep_receives(Pair& pair, const std::function<double(size_t)>& away,
                        const SweepOptions& options) {
  Receives receives;
  std::set<size_t> known;  // the first loop over a length is forgotten, as sweep() does
  receives.both = sweep(
      [&](size_t bytes, int loops) {
        const ReceiveTimes times = pair.receive_overhead(bytes, loops, away(bytes));
        if (!known.insert(bytes).second) {
          const double ended = now();
          receives.posts[bytes].add(times.post, loops, ended);
          receives.waits[bytes].add(times.wait, loops, ended);
        }
        return times.both;
      },
      options);
  return receives;
}

std::vector<Series> series_of(const Receives& receives) {
  return {{"receive_overhead", receives.both},
          {"irecv", receives.posts},
          {"irecv_wait", receives.waits}};
}

/// The processor's time at both ends; see Pair.
void measure_overheads(Pair& pair, Basis& basis, const Effort& effort) {
  const auto away = time_away(basis.one_way);
  SweepOptions options = options_of_singles(basis, effort, "processor time", "send_overhead");
  options.extra = lengths_to_look_at(basis.probe);
  const Timings sends =
      sweep([&](size_t bytes, int loops) { return pair.send_overhead(bytes, loops, away(bytes)); },
            options);
  options.lengths = lengths_of(effort.lengths, basis.level, "receive_overhead");
  options.busy_budget = effort.begin(options.budget);
  if (options.planned && options.lengths.empty()) {  // both ends, or there are no overheads
    options.lengths.clear();
    for (const auto& [bytes, timing] : sends) options.lengths.push_back(bytes);
  }
  LevelSeries measured{basis.level, {{"send_overhead", sends}}};
  const Receives receives = sweep_receives(pair, away, options);
  basis.receives = receives.both;
  for (Series& one : series_of(receives)) measured.series.push_back(std::move(one));
  effort.keep(measured);
  if (!basis.probe.eager) {
    effort.begin(options.budget);  // the part is skipped
    return;
  }
  options.lengths = lengths_of(effort.lengths, basis.level, "unexpected_overhead");
  options.busy_budget = effort.begin(options.budget);
  if (basis.probe.waiting && options.lengths.empty()) {
    const auto limit = static_cast<size_t>(*basis.probe.eager);
    options.max_bytes = limit;
    options.only.erase(options.only.upper_bound(limit), options.only.end());
  }
  const Timings unexpected = sweep(
      [&](size_t bytes, int loops) { return pair.unexpected_overhead(bytes, loops, away(bytes)); },
      options);
  effort.keep({basis.level, {{"unexpected_overhead", unexpected}}});
}

/// Eager messages in a row: the time of one right behind another.
void measure_streams(Pair& pair, Basis& basis, const Effort& effort) {
  constexpr size_t kLongest = 8192;  // bytes; longer ones are copying
  if (!basis.probe.eager) {
    effort.begin(budget_of(basis.level, effort.pace).overhead);
    return;
  }
  SweepOptions options = options_of_singles(basis, effort, "streams", "stream");
  options.min_round_trips = 1;
  const size_t longest = std::min(kLongest, static_cast<size_t>(*basis.probe.eager));
  options.max_bytes = std::min(options.max_bytes, longest);
  options.only.erase(options.only.upper_bound(options.max_bytes), options.only.end());
  options.only.insert(options.max_bytes);
  const Timings streams =
      sweep([&](size_t bytes, int loops) { return pair.stream(bytes, loops); }, options);
  effort.keep({basis.level, {{"stream", streams}}});
}

/// Eager messages in synchronous mode, measured in turn with standard ones for their difference.
void measure_synchronous(Pair& pair, Basis& basis, const Effort& effort) {
  constexpr size_t kStep = 4;
  const double budget = budget_of(basis.level, effort.pace).synchronous;
  if (!basis.probe.eager) {
    effort.begin(budget);
    return;
  }
  SweepOptions options =
      sweep_options(effort, budget, "synchronous sends", basis.level, "synchronous");
  options.refine = false;
  const auto longest = static_cast<size_t>(*basis.probe.eager);
  options.max_bytes = std::min(options.max_bytes, longest);
  options.only = {0, options.max_bytes};
  for (size_t n = 1; n < options.max_bytes; n *= kStep) options.only.insert(n);
  const auto loop = [&](bool synchronous) {
    return [&pair, synchronous](size_t bytes, int count) {
      return pair.ping_pong(bytes, count, synchronous);
    };
  };
  std::vector<Timings> timings = sweep_in_turn({loop(true), loop(false)}, options);
  effort.keep(
      {basis.level,
       {{"synchronous", std::move(timings[0])}, {"synchronous_beside", std::move(timings[1])}}});
}

/// The times of receives as used in the fit.
std::vector<TimedLength> receives_that_count(const Basis& basis, OfLoops of_loops) {
  std::vector<TimedLength> receives = timed_lengths(basis.receives, of_loops);
  for (TimedLength& timing : receives) {
    if (counts_by_median("receive_overhead", timing.bytes, basis.probe.waiting))
      timing.seconds =
          basis.receives.at(static_cast<size_t>(timing.bytes)).seconds(OfLoops::kMedian);
  }
  return receives;
}

/// Finds which ends have to be inside MPI for messages above the eager limit: progress while the
/// sender computes, and while both do (measure_overheads() covers the receiver). Adds lengths
/// between two lengths with different results.
void measure_overlap(Pair& pair, Basis& basis, const Effort& effort) {
  constexpr double kLonger = 1.25;  // the receiver computes longer, so that the sender has to wait
  constexpr size_t kClosest = 64;   // bytes, and a 32nd of the length
  constexpr int kMostRounds = 12;
  if (!basis.probe.waiting || *basis.probe.waiting > static_cast<double>(effort.max_bytes)) {
    for (int part = 0; part < 2; ++part) effort.begin(budget_of(basis.level, effort.pace).overhead);
    return;
  }
  const auto away = time_away(basis.one_way);
  SweepOptions options = options_of_singles(basis, effort, "overlap", "sender_computes");
  const auto waiting = static_cast<size_t>(*basis.probe.waiting);
  options.only.erase(options.only.begin(), options.only.lower_bound(waiting));
  options.only.insert(waiting);
  Series sender{"sender_computes", {}}, both{"both_compute", {}};
  const bool given = !options.lengths.empty();
  const double begin = now(), budget = options.budget;  // of either series
  for (int round = 0; round < (given ? 1 : kMostRounds) && !options.only.empty(); ++round) {
    if (round > 0 && options.planned && now() - begin > 2 * budget) break;
    sender.timings.merge(sweep(
        [&](size_t bytes, int loops) { return pair.sender_wait(bytes, loops, away(bytes), 0); },
        options));
    if (round == 0) options.busy_budget = effort.begin(options.budget);
    if (options.planned) {
      options.only.clear();
      for (const auto& [bytes, timing] : sender.timings) options.only.insert(bytes);
    }
    both.timings.merge(sweep(
        [&](size_t bytes, int loops) {
          return pair.sender_wait(bytes, loops, away(bytes), kLonger * away(bytes));
        },
        options));
    // The lengths of the first round are known.
    if (round > 0) {
      Receives receives = sweep_receives(pair, away, options);
      effort.keep({basis.level, series_of(receives)});
      basis.receives.merge(receives.both);
    }
    if (effort.stop && effort.stop()) break;
    const std::vector<ProtocolSegment> found = find_protocols(
        *basis.probe.waiting,
        {timed_lengths(sender.timings, OfLoops::kMedian),
         timed_lengths(both.timings, OfLoops::kMedian)},
        timed_lengths(basis.one_way, effort.of_loops), receives_that_count(basis, effort.of_loops));
    options.only.clear();
    options.budget = 0;  // the least number of cycles
    options.busy_budget = 0;
    for (size_t k = 1; k < found.size(); ++k) {
      const auto at = sender.timings.find(static_cast<size_t>(found[k].from));
      if (at == sender.timings.end() || at == sender.timings.begin()) continue;
      const size_t below = std::prev(at)->first;
      if (at->first - below <= std::max(kClosest, at->first / 32)) continue;
      options.only.insert(below + (at->first - below) / 2);
    }
  }
  effort.keep({basis.level, {std::move(sender), std::move(both)}});
}

}  // namespace

SweepOptions sweep_options(const Effort& effort, double budget) {
  SweepOptions options;
  options.max_bytes = effort.max_bytes;
  options.budget = budget;
  options.busy_budget = budget;
  options.loop_seconds = effort.loop_seconds;
  options.threshold = effort.threshold;
  options.separation = effort.separation;
  options.max_cycles = effort.pace.times(options.max_cycles, options.max_cycles);
  options.settled_at = effort.pace.quick ? 0.02 : 0.01;  // as for collectives
  options.seed = effort.seed;
  options.planned = effort.pace.in_time;
  options.stop = effort.stop;
  return options;
}

void take_listed(SweepOptions& options, const Effort& effort) {
  if (effort.listed.empty()) return;
  options.refine = false;
  options.only.clear();
  for (const size_t bytes : effort.listed) options.only.insert(std::min(bytes, options.max_bytes));
}

void tell_left_out(SweepOptions& options, const Effort& effort, const std::string& what) {
  options.left_out = [&effort, what](const std::set<size_t>& wanted,
                                     const std::set<size_t>& measured) {
    effort.leave_out(left_out_text(what, wanted, measured));
  };
}

double planned_seconds(Level level, const Pace& pace) {
  const Budget budget = budget_of(level, pace);
  return budget.transfer + budget.ports + kSinglesSeries * budget.overhead + budget.synchronous;
}

void characterise(Pair& pair, Level level, int partner, const Effort& effort) {
  const double begin = now();
  for (size_t bytes : starting_lengths(effort.max_bytes)) {
    if (effort.pace.in_time && now() - begin > kChecks) {
      effort.leave_out(std::string(kLevelNames[static_cast<int>(level)]) + ": bit patterns from " +
                       format_bytes(static_cast<double>(bytes)) + " on");
      break;
    }
    if (pair.payload_survives(bytes)) continue;
    throw InputError("a message of " + std::to_string(bytes) + " bytes to rank " +
                     std::to_string(partner) + " arrived damaged; this MPI cannot be trusted");
  }
  Basis basis{level, find_protocol(pair, level, effort)};
  const bool self = level == Level::kSelf;
  const std::string pattern = self ? "sendrecv" : "pingpong";
  SweepOptions options = sweep_options(effort, budget_of(level, effort.pace).transfer,
                                       kLevelNames[static_cast<int>(level)], level, pattern);
  options.extra = lengths_to_look_at(basis.probe);
  take_listed(options, effort);
  const Loop loop = [&](size_t bytes, int loops) {
    return self ? pair.exchange_with_self(bytes, loops) : pair.ping_pong(bytes, loops);
  };
  basis.one_way = sweep(loop, options);
  effort.keep({level, {{pattern, basis.one_way}}, basis.probe});
  if (self) return;
  using Part = void (*)(Pair&, Basis&, const Effort&);
  constexpr std::pair<const char*, Part> kParts[] = {{"ports", measure_ports},
                                                     {"processor time", measure_overheads},
                                                     {"streams", measure_streams},
                                                     {"synchronous sends", measure_synchronous},
                                                     {"overlap", measure_overlap}};
  for (const auto& [what, measure] : kParts) {
    if (!(effort.stop && effort.stop()))
      measure(pair, basis, effort);
    else
      effort.leave_out(std::string(kLevelNames[static_cast<int>(level)]) + " " + what);
  }
}

}  // namespace rubato
