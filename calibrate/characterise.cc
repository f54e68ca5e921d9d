// Which messages are measured, and for how long; models/fit/level_fit.cc turns their times into
// curves.
#include "calibrate/characterise.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "models/error.h"

namespace rubato {
namespace {

// One send that returns early is proof; one that returns late may have lost its processor, which a
// longer delay tells: five probes of 2 ms to 32 ms, the first of them far above any eager send.
constexpr double kReceiverDelay = 2e-3;  // seconds
constexpr int kProbes = 5;

/// Seconds for each part.
struct Budget {
  double transfer, ports, overhead;
};

Budget budget_of(Level level, const Pace& pace) {
  if (level == Level::kSelf) return {pace.seconds(0.6, 4), 0, 0};
  return {pace.seconds(3.5, 20), pace.seconds(2.5, 12), pace.seconds(0.8, 4)};
}

/// Series of single messages: at the two ends, unexpected, and two of overlap.
constexpr int kSinglesSeries = 5;

/// Of a part of a level, which begins with it.
SweepOptions sweep_options(const Effort& effort, double budget, const std::string& what,
                           Level level, const std::string& pattern) {
  SweepOptions options = sweep_options(effort, budget);
  options.lengths = lengths_of(effort.lengths, level, pattern);
  options.busy_budget = effort.begin(budget);
  options.of_loops = effort.of_loops;
  if (effort.progress) {
    options.progress = [&effort, what](const std::string& text) {
      effort.progress(what + ": " + text);
    };
  }
  return options;
}

void find_protocol(Pair& pair, LevelResult& result, const Effort& effort) {
  const auto eager = [&](size_t bytes) {
    double delay = kReceiverDelay;
    for (int i = 0; i < kProbes; ++i, delay *= 2) {
      const bool early = result.level == Level::kSelf ? pair.sends_eagerly_to_self(bytes)
                                                      : pair.sends_eagerly(bytes, delay);
      if (early) return true;
    }
    return false;
  };
  const std::optional<size_t> limit = find_eager_limit(eager, effort.max_bytes);
  if (limit) result.probe.eager = static_cast<double>(*limit);
  if (limit != effort.max_bytes) result.probe.waiting = limit ? *result.probe.eager + 1 : 0;
}

/// Both sides of the eager limit.
std::vector<size_t> lengths_to_look_at(const ProtocolProbe& probe) {
  if (!probe.eager) return {};
  const size_t limit = static_cast<size_t>(*probe.eager);
  return {limit, limit + 1};
}

/// Several messages in one direction, one, and one in each: their differences count, and what they
/// take beside a ping-pong. So they are measured in turn.
void measure_ports(Pair& pair, LevelResult& result, const Effort& effort) {
  SweepOptions options = sweep_options(effort, budget_of(result.level, effort.pace).ports, "ports",
                                       result.level, "burst");
  options.refine = false;
  options.max_bytes = pair.longest_in_burst();
  options.extra = lengths_to_look_at(result.probe);
  const auto burst = [&](size_t bytes, int count) {
    return pair.burst(bytes, Pair::burst_length(bytes), count);
  };
  const std::vector<std::pair<const char*, Loop>> patterns = {
      {"beside", [&](size_t bytes, int count) { return pair.ping_pong(bytes, count); }},
      {"single", [&](size_t bytes, int count) { return pair.burst(bytes, 1, count); }},
      {"burst", burst},
      {"exchange", [&](size_t bytes, int count) { return pair.exchange(bytes, count); }}};
  std::vector<Loop> loops;
  for (const auto& [name, loop] : patterns) loops.push_back(loop);
  std::vector<Timings> timings = sweep_in_turn(loops, options);
  for (size_t i = 0; i < timings.size(); ++i)
    result.series.push_back({patterns[i].first, std::move(timings[i])});
}

/// How long an end looks away: for longer than a message takes, at any length.
std::function<double(size_t)> time_away(const Timings& one_way) {
  constexpr double kAway = 10e-6;  // seconds, and as long again as a round trip takes
  return [one_way](size_t bytes) {
    const auto at = one_way.lower_bound(bytes);
    return kAway + 2 * (at == one_way.end() ? std::prev(at) : at)->second.min;
  };
}

/// Single messages, each timed alone: at powers of two, since these curves have few segments.
SweepOptions options_of_singles(const LevelResult& result, const Effort& effort,
                                const std::string& what, const std::string& pattern) {
  constexpr int kRepetitions = 4;
  SweepOptions options = sweep_options(effort, budget_of(result.level, effort.pace).overhead, what,
                                       result.level, pattern);
  options.refine = false;
  options.loop_seconds = 0;
  options.min_round_trips = kRepetitions;
  options.first_cycles = 4;
  options.only = {0, effort.max_bytes};
  for (size_t n = 1; n < effort.max_bytes; n *= 2) options.only.insert(n);
  return options;
}

/// Receives, and their two calls by themselves, of the same loops.
struct Receives {
  Timings both;          ///< which counts
  Timings posts, waits;  ///< for people
};

Receives sweep_receives(Pair& pair, const std::function<double(size_t)>& away,
                        const SweepOptions& options) {
  Receives receives;
  std::set<size_t> known;  // the first loop over a length is forgotten, as sweep() does
  receives.both = sweep(
      [&](size_t bytes, int loops) {
        const ReceiveTimes times = pair.receive_overhead(bytes, loops, away(bytes));
        if (!known.insert(bytes).second) {
          receives.posts[bytes].add(times.post, loops);
          receives.waits[bytes].add(times.wait, loops);
        }
        return times.both;
      },
      options);
  return receives;
}

/// Adds them to the series of their names.
void add_receives(LevelResult& result, Receives receives) {
  result.timings_for("receive_overhead").merge(receives.both);
  result.timings_for("irecv").merge(receives.posts);
  result.timings_for("irecv_wait").merge(receives.waits);
}

/// The processor's time at both ends; see Pair.
void measure_overheads(Pair& pair, LevelResult& result, const Effort& effort) {
  const auto away = time_away(result.series.front().timings);
  SweepOptions options = options_of_singles(result, effort, "processor time", "send_overhead");
  options.extra = lengths_to_look_at(result.probe);
  const Timings sends =
      sweep([&](size_t bytes, int loops) { return pair.send_overhead(bytes, loops, away(bytes)); },
            options);
  options.lengths = lengths_of(effort.lengths, result.level, "receive_overhead");
  options.busy_budget = effort.begin(options.budget);
  result.series.push_back({"send_overhead", sends});
  add_receives(result, sweep_receives(pair, away, options));
  if (!result.probe.eager) {
    effort.begin(options.budget);  // of a part that is none
    return;
  }
  options.lengths = lengths_of(effort.lengths, result.level, "unexpected_overhead");
  options.busy_budget = effort.begin(options.budget);
  if (result.probe.waiting && options.lengths.empty()) {
    const auto limit = static_cast<size_t>(*result.probe.eager);
    options.max_bytes = limit;
    options.only.erase(options.only.upper_bound(limit), options.only.end());
  }
  const Timings unexpected = sweep(
      [&](size_t bytes, int loops) { return pair.unexpected_overhead(bytes, loops, away(bytes)); },
      options);
  result.series.push_back({"unexpected_overhead", unexpected});
}

/// Finds who has to be inside MPI for messages above the eager limit: progress while the sender
/// computes, and while both do (measure_overheads() covers the receiver). Adds lengths between two
/// lengths with different results.
void measure_overlap(Pair& pair, LevelResult& result, const Effort& effort) {
  constexpr double kLonger = 1.25;  // the receiver stays away, so that the sender has to wait
  constexpr size_t kClosest = 64;   // bytes, and a 32nd of the length
  constexpr int kMostRounds = 12;
  if (!result.probe.waiting || *result.probe.waiting > static_cast<double>(effort.max_bytes)) {
    for (int part = 0; part < 2; ++part)
      effort.begin(budget_of(result.level, effort.pace).overhead);
    return;
  }
  const auto away = time_away(result.series.front().timings);
  SweepOptions options = options_of_singles(result, effort, "overlap", "sender_computes");
  const auto waiting = static_cast<size_t>(*result.probe.waiting);
  options.only.erase(options.only.begin(), options.only.lower_bound(waiting));
  options.only.insert(waiting);
  Series sender{"sender_computes", {}}, both{"both_compute", {}};
  const bool given = !options.lengths.empty();
  for (int round = 0; round < (given ? 1 : kMostRounds) && !options.only.empty(); ++round) {
    sender.timings.merge(sweep(
        [&](size_t bytes, int loops) { return pair.sender_wait(bytes, loops, away(bytes), 0); },
        options));
    if (round == 0) options.busy_budget = effort.begin(options.budget);
    both.timings.merge(sweep(
        [&](size_t bytes, int loops) {
          return pair.sender_wait(bytes, loops, away(bytes), kLonger * away(bytes));
        },
        options));
    // The lengths of the first round are known.
    if (round > 0) add_receives(result, sweep_receives(pair, away, options));
    if (effort.stop && effort.stop()) break;
    const LevelSamples samples = result.samples();
    const std::vector<ProtocolSegment> found =
        find_protocols(*result.probe.waiting,
                       {timed_lengths(sender.timings, OfLoops::kMedian),
                        timed_lengths(both.timings, OfLoops::kMedian)},
                       samples.transfer, samples.overheads.receive);
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
  result.series.push_back(std::move(sender));
  result.series.push_back(std::move(both));
}

}  // namespace

const Timings* LevelResult::timings_of(const std::string& pattern) const {
  const auto found = std::find_if(series.begin(), series.end(),
                                  [&](const Series& one) { return one.pattern == pattern; });
  return found == series.end() ? nullptr : &found->timings;
}

Timings& LevelResult::timings_for(const std::string& pattern) {
  if (!timings_of(pattern)) series.push_back({pattern, {}});
  return const_cast<Timings&>(*timings_of(pattern));
}

LevelSamples LevelResult::samples() const {
  LevelSamples samples;
  samples.probe = probe;
  for (const Series& one : series) {
    std::vector<TimedLength>* belongs = samples.series(one.pattern);
    if (!belongs) continue;
    std::vector<TimedLength>& timings = *belongs;
    timings = timed_lengths(one.timings, of_loops);
    for (TimedLength& timing : timings) {
      if (counts_by_median(one.pattern, timing.bytes, probe.waiting))
        timing.seconds =
            one.timings.at(static_cast<size_t>(timing.bytes)).seconds(OfLoops::kMedian);
    }
    if (one.pattern != "burst") continue;
    for (TimedLength& timing : timings) {
      timing.messages = Pair::burst_length(static_cast<size_t>(timing.bytes));
    }
  }
  return samples;
}

SweepOptions sweep_options(const Effort& effort, double budget) {
  SweepOptions options;
  options.max_bytes = effort.max_bytes;
  options.budget = budget;
  options.busy_budget = budget;
  options.max_cycles = effort.pace.times(options.max_cycles, options.max_cycles);
  options.seed = effort.seed;
  options.stop = effort.stop;
  return options;
}

double planned_seconds(Level level, const Pace& pace) {
  const Budget budget = budget_of(level, pace);
  return budget.transfer + budget.ports + kSinglesSeries * budget.overhead;
}

LevelResult characterise(Pair& pair, Level level, int partner, const Effort& effort) {
  LevelResult result;
  result.level = level;
  result.of_loops = effort.of_loops;
  result.partner = partner;
  const std::string name = kLevelNames[static_cast<int>(level)];

  for (size_t bytes : starting_lengths(effort.max_bytes)) {
    if (pair.payload_survives(bytes)) continue;
    throw InputError("a message of " + std::to_string(bytes) + " bytes to rank " +
                     std::to_string(partner) + " arrived damaged; this MPI cannot be trusted");
  }
  find_protocol(pair, result, effort);

  const bool self = level == Level::kSelf;
  const std::string pattern = self ? "sendrecv" : "pingpong";
  SweepOptions options =
      sweep_options(effort, budget_of(level, effort.pace).transfer, name, level, pattern);
  options.extra = lengths_to_look_at(result.probe);
  const Loop loop = [&](size_t bytes, int loops) {
    return self ? pair.exchange_with_self(bytes, loops) : pair.ping_pong(bytes, loops);
  };
  const auto keep_from = [&](size_t first) {
    LevelResult done = result;
    done.series.erase(done.series.begin(), done.series.begin() + static_cast<long>(first));
    effort.keep(done);
  };
  result.series.push_back({pattern, sweep(loop, options)});
  keep_from(0);
  const auto stopped = [&effort] { return effort.stop && effort.stop(); };
  for (const auto measure : {measure_ports, measure_overheads, measure_overlap}) {
    if (self || stopped()) continue;
    const size_t before = result.series.size();
    measure(pair, result, effort);
    keep_from(before);
  }
  result.fit = fit_level(result.samples());
  return result;
}

}  // namespace rubato
