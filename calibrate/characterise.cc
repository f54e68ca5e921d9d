// From messages between two ranks to the model of their level:
//
//   T(n)   half a ping-pong round trip. Overheads are 0 here: they are part of T, once.
//   g(n)   half a round trip of k messages at once takes (k-1) g + T'(n) when ports are busy for g
//          per message, T' being T with nonblocking calls; with k = 1 it takes T'(n). So
//          g = (burst_k - burst_1) / (k - 1).
//   limit  a send that returns well before its receive is posted was eager.
#include "calibrate/characterise.h"

#include <algorithm>
#include <cmath>

#include "models/error.h"

namespace rubato {
namespace {

// One send that returns early is proof; one that returns late may have lost its processor, which a
// longer delay tells: five probes of 2 ms to 32 ms, the first of them far above any eager send.
constexpr double kReceiverDelay = 2e-3;  // seconds
constexpr int kProbes = 5;
// A port that is busy for longer than a message takes, by more than this, is a disturbed
// measurement.
constexpr double kMostGap = 1.5;
// Two runs of mpirun differ by more than two halves of one run; finer than this nobody reproduces.
constexpr double kLeastNoise = 0.01;
// On a busy machine the curve follows its samples all the same: a fit that explains a step of 50 %
// as noise is worse than noisy samples.
constexpr double kMostNoise = 0.03;
constexpr double kLeastGap = 1e-9;  // seconds; the resolution of the difference of two loops

/// Seconds for each part, normal and quick: two ranks need less than 60 s and 10 s in all.
struct Budget {
  double transfer, burst, single;
};

Budget budget_of(Level level, bool quick) {
  if (level == Level::kSelf) return quick ? Budget{0.6, 0, 0} : Budget{4, 0, 0};
  return quick ? Budget{3.5, 1.2, 0.6} : Budget{20, 6, 3};
}

SweepOptions sweep_options(const Effort& effort, double budget, const std::string& what) {
  SweepOptions options;
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

double noise_of(const Timings& timings) {
  return std::clamp(repeatability(timings), kLeastNoise, kMostNoise);
}

std::optional<SegmentedFit> fit_timings(const Timings& timings) {
  std::vector<FitSample> samples;
  for (const auto& [bytes, timing] : timings) {
    samples.push_back({static_cast<double>(bytes), timing.min, 1});
  }
  if (samples.size() < 3) return std::nullopt;
  FitOptions options;
  options.noise = noise_of(timings);
  return fit_segments(std::move(samples), options);
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
  result.eager_limit = find_eager_limit(eager, effort.max_bytes);
  result.all_eager = result.eager_limit == effort.max_bytes;
  result.protocol_known = true;
}

void measure_gap(Pair& pair, LevelResult& result, const Effort& effort) {
  const Budget budget = budget_of(result.level, effort.quick);
  SweepOptions options = sweep_options(effort, budget.burst, "burst");
  options.refine = false;
  if (result.eager_limit) options.extra = {*result.eager_limit, *result.eager_limit + 1};
  const Timings bursts = sweep(
      [&](size_t bytes, int loops) { return pair.burst(bytes, Pair::burst_length(bytes), loops); },
      options);
  options.budget = budget.single;
  const Timings singles =
      sweep([&](size_t bytes, int loops) { return pair.burst(bytes, 1, loops); }, options);
  result.series.push_back({"burst", bursts});
  result.series.push_back({"single", singles});
  if (effort.stop && effort.stop()) return;

  std::vector<FitSample> samples;
  for (const auto& [bytes, burst] : bursts) {
    const auto single = singles.find(bytes);
    if (single == singles.end()) continue;
    const double n = static_cast<double>(bytes);
    const double gap = (burst.min - single->second.min) / (Pair::burst_length(bytes) - 1);
    samples.push_back({n, std::clamp(gap, kLeastGap, kMostGap * (*result.transfer)(n)), 1});
  }
  if (samples.size() < 3) return;
  // A difference of two minima; the half of its noise that is common to all lengths is not known.
  FitOptions fit;
  fit.noise = 2 * noise_of(bursts);
  result.gap = fit_segments(std::move(samples), fit);
}

}  // namespace

LevelModel LevelResult::model() const {
  LevelModel model;
  if (transfer) model.transfer = TransferCurve(transfer->segments);
  if (gap) model.gap = TransferCurve(gap->segments);
  if (protocol_known) {
    if (eager_limit) model.protocols.push_back({0, Protocol::kEager});
    if (!all_eager) {
      model.protocols.push_back(
          {eager_limit ? static_cast<double>(*eager_limit) + 1 : 0, Protocol::kAsync});
    }
  }
  return model;
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

  SweepOptions options = sweep_options(effort, budget_of(level, effort.quick).transfer, name);
  if (result.eager_limit) options.extra = {*result.eager_limit, *result.eager_limit + 1};
  const bool self = level == Level::kSelf;
  const Loop loop = [&](size_t bytes, int loops) {
    return self ? pair.exchange_with_self(bytes, loops) : pair.ping_pong(bytes, loops);
  };
  result.series.push_back({self ? "sendrecv" : "pingpong", sweep(loop, options)});
  result.transfer = fit_timings(result.series.back().timings);
  if (!self && result.transfer && !(effort.stop && effort.stop())) {
    measure_gap(pair, result, effort);
  }
  return result;
}

}  // namespace rubato
