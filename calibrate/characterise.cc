// Which messages are measured, for how long; models/level_fit.cc makes curves of their times.
#include "calibrate/characterise.h"

#include "models/error.h"

namespace rubato {
namespace {

// One send that returns early is proof; one that returns late may have lost its processor, which a
// longer delay tells: five probes of 2 ms to 32 ms, the first of them far above any eager send.
constexpr double kReceiverDelay = 2e-3;  // seconds
constexpr int kProbes = 5;

/// Seconds for each part, normal and quick: two ranks need less than 60 s and 10 s in all.
struct Budget {
  double transfer, burst, single;
};

Budget budget_of(Level level, bool quick) {
  if (level == Level::kSelf) return quick ? Budget{0.6, 0, 0} : Budget{4, 0, 0};
  return quick ? Budget{3.5, 1.2, 0.6} : Budget{20, 6, 3};
}

SweepOptions sweep_options(const Effort& effort, double budget, const std::string& what,
                           Level level, const std::string& pattern) {
  SweepOptions options;
  options.lengths = lengths_of(effort.lengths, level, pattern);
  options.max_bytes = effort.max_bytes;
  options.budget = budget;
  options.busy_budget = 2 * budget;
  options.seed = effort.seed;
  options.stop = effort.stop;
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

void measure_gap(Pair& pair, LevelResult& result, const Effort& effort) {
  const Budget budget = budget_of(result.level, effort.quick);
  SweepOptions options = sweep_options(effort, budget.burst, "burst", result.level, "burst");
  options.refine = false;
  options.extra = lengths_to_look_at(result.probe);
  const Timings bursts = sweep(
      [&](size_t bytes, int loops) { return pair.burst(bytes, Pair::burst_length(bytes), loops); },
      options);
  options.budget = budget.single;
  options.lengths = lengths_of(effort.lengths, result.level, "single");
  const Timings singles =
      sweep([&](size_t bytes, int loops) { return pair.burst(bytes, 1, loops); }, options);
  result.series.push_back({"burst", bursts});
  result.series.push_back({"single", singles});
}

}  // namespace

LevelSamples LevelResult::samples() const {
  LevelSamples samples;
  samples.probe = probe;
  for (const Series& one : series) {
    std::vector<TimedLength>& timings = one.pattern == "burst"    ? samples.burst
                                        : one.pattern == "single" ? samples.single
                                                                  : samples.transfer;
    timings = timed_lengths(one.timings);
    if (one.pattern != "burst") continue;
    for (TimedLength& timing : timings) {
      timing.messages = Pair::burst_length(static_cast<size_t>(timing.bytes));
    }
  }
  return samples;
}

LevelResult characterise(Pair& pair, Level level, int partner, const Effort& effort) {
  LevelResult result;
  result.level = level;
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
      sweep_options(effort, budget_of(level, effort.quick).transfer, name, level, pattern);
  options.extra = lengths_to_look_at(result.probe);
  const Loop loop = [&](size_t bytes, int loops) {
    return self ? pair.exchange_with_self(bytes, loops) : pair.ping_pong(bytes, loops);
  };
  result.series.push_back({pattern, sweep(loop, options)});
  if (!self && !(effort.stop && effort.stop())) measure_gap(pair, result, effort);
  result.fit = fit_level(result.samples());
  return result;
}

}  // namespace rubato
