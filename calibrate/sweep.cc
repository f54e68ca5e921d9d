#include "calibrate/sweep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <random>
#include <utility>

namespace rubato {
namespace {

constexpr int kRefinementRounds = 12;
constexpr int kLeastCycles = 3;  // however long they take on a busy machine
constexpr double kAnomaly = 1.10;
constexpr int kAnomalyLoops = 10;

using SteadyClock = std::chrono::steady_clock;

/// Straight line between two timings, at `bytes`.
double interpolate(const Timings::const_iterator& a, const Timings::const_iterator& b,
                   double bytes) {
  const double share =
      (bytes - static_cast<double>(a->first)) / static_cast<double>(b->first - a->first);
  return a->second.min + share * (b->second.min - a->second.min);
}

/// A sweep in progress.
class Sweep {
 public:
  Sweep(const std::vector<Loop>& loops, const SweepOptions& options)
      : all(loops.size()),
        timings(all.front()),
        loops_(loops),
        options_(options),
        random_(options.seed),
        begin_(SteadyClock::now()) {}

  bool stopped() const { return options_.stop && options_.stop(); }
  double elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }

  /// Each loop once for one length, as long as the length needs.
  void measure(size_t bytes) {
    for (size_t i = 0; i < loops_.size(); ++i) measure(loops_[i], bytes, all[i][bytes]);
  }

  void measure(const Loop& loop, size_t bytes, Timing& timing) {
    int round_trips = options_.min_round_trips;
    if (timing.loops > 0 && timing.min > 0) {
      round_trips =
          static_cast<int>(std::clamp(std::ceil(options_.loop_seconds / timing.min),
                                      double(round_trips), double(options_.max_round_trips)));
      timing.add(loop(bytes, round_trips), round_trips);
    } else {
      // The first loop is short: it shows how long the others have to be, and is then forgotten.
      timing.min = loop(bytes, round_trips);
      round_trips =
          static_cast<int>(std::clamp(std::ceil(options_.loop_seconds / std::max(timing.min, 1e-9)),
                                      double(round_trips), double(options_.max_round_trips)));
      timing = {};
      timing.add(loop(bytes, round_trips), round_trips);
    }
  }

  /// Each of the lengths once, in a new random order. False when interrupted.
  bool cycle(std::vector<size_t> lengths) {
    std::shuffle(lengths.begin(), lengths.end(), random_);
    for (size_t bytes : lengths) {
      if (stopped()) return false;
      measure(bytes);
    }
    return true;
  }

  bool cycles(int count, const std::vector<size_t>& lengths) {
    for (int i = 0; i < count; ++i) {
      if (!cycle(lengths)) return false;
    }
    return true;
  }

  std::vector<size_t> lengths() const {
    std::vector<size_t> found;
    for (const auto& [bytes, timing] : timings) found.push_back(bytes);
    return found;
  }

  void tell(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  /// Two halves of the worst of the loops.
  double repeatable_within() const {
    double worst = 0;
    for (const Timings& one : all) worst = std::max(worst, repeatability(timed_lengths(one)));
    return worst;
  }

  std::vector<Timings> all;  ///< by loop
  Timings& timings;          ///< of the first one

 private:
  const std::vector<Loop>& loops_;
  const SweepOptions& options_;
  std::mt19937 random_;
  SteadyClock::time_point begin_;
};

/// Anomalies again, a few loops each.
bool repeat_anomalies(Sweep& run) {
  std::set<size_t> lengths;
  for (const Timings& one : run.all) {
    for (const size_t bytes : anomalies(one)) lengths.insert(bytes);
  }
  return run.cycles(kAnomalyLoops, {lengths.begin(), lengths.end()});
}

/// Adds lengths until straight lines between them are good enough. Their neighbours are measured
/// with them, since a disturbed neighbour asks for lengths that nobody needs.
bool refine(Sweep& run, const SweepOptions& options) {
  for (int round = 0; round < kRefinementRounds; ++round) {
    if (!repeat_anomalies(run)) return false;
    std::vector<size_t> middles = refinement(run.timings, options.threshold);
    const size_t room = options.max_lengths - std::min(options.max_lengths, run.timings.size());
    middles.resize(std::min(middles.size(), room));
    if (middles.empty() || run.elapsed() > options.budget / 2) return true;
    std::set<size_t> chosen(middles.begin(), middles.end());
    for (size_t bytes : middles) {
      const auto above = run.timings.lower_bound(bytes);
      if (above != run.timings.end()) chosen.insert(above->first);
      if (above != run.timings.begin()) chosen.insert(std::prev(above)->first);
    }
    run.tell("refining, " + std::to_string(run.timings.size() + middles.size()) + " lengths");
    if (!run.cycles(options.first_cycles, {chosen.begin(), chosen.end()})) return false;
  }
  return true;
}

}  // namespace

void Timing::add(double seconds, int round_trips_of_loop) {
  min = loops ? std::min(min, seconds) : seconds;
  max = loops ? std::max(max, seconds) : seconds;
  sum += seconds;
  double& half = min_of_half[loops % 2];
  half = loops < 2 ? seconds : std::min(half, seconds);
  ++loops;
  round_trips = round_trips_of_loop;
}

std::set<size_t> starting_lengths(size_t max_bytes) {
  std::set<size_t> lengths = {0, 1, max_bytes};
  for (size_t n = 2; n <= max_bytes; n *= 2) {
    lengths.insert(n);
    if (n + n / 2 <= max_bytes) lengths.insert(n + n / 2);
  }
  // A staircase whose pitch divides powers of two (pages, packets, fragments of a pipeline) looks
  // like a straight line from all of these: each stands at the end of a step. A few lengths stand
  // at the begin of one.
  for (size_t n = 64; n + n / 8 + 1 <= max_bytes; n *= 4) lengths.insert(n + n / 8 + 1);
  return lengths;
}

std::vector<size_t> refinement(const Timings& timings, double threshold) {
  std::map<size_t, double> miss_of_middle;
  const auto split = [&](size_t low, size_t high, double miss) {
    const size_t closest = std::max<size_t>(4, high / (miss > 3 * threshold ? 512 : 64));
    if (high - low < 2 * closest) return;
    double& known = miss_of_middle[low + (high - low) / 2];
    known = std::max(known, miss);
  };
  if (timings.size() < 3) return {};
  for (auto left = timings.begin(), mid = std::next(left), right = std::next(mid);
       right != timings.end(); ++left, ++mid, ++right) {
    const double line = interpolate(left, right, static_cast<double>(mid->first));
    const double miss = std::abs(line / mid->second.min - 1);
    if (miss <= threshold) continue;
    split(left->first, mid->first, miss);
    split(mid->first, right->first, miss);
  }
  std::vector<size_t> middles;
  for (const auto& [middle, miss] : miss_of_middle) middles.push_back(middle);
  std::stable_sort(middles.begin(), middles.end(),
                   [&](size_t a, size_t b) { return miss_of_middle[a] > miss_of_middle[b]; });
  return middles;
}

std::vector<TimedLength> timed_lengths(const Timings& timings) {
  std::vector<TimedLength> lengths;
  for (const auto& [bytes, timing] : timings) {
    TimedLength length{static_cast<double>(bytes), 1, timing.min, {0, 0}, 1};
    if (timing.loops >= 2) std::copy_n(timing.min_of_half, 2, length.half);
    lengths.push_back(length);
  }
  return lengths;
}

std::vector<size_t> anomalies(const Timings& timings) {
  std::vector<size_t> found;
  if (timings.size() < 3) return found;
  // A shorter message should not take longer than the next one.
  const auto first = timings.begin();
  if (first->second.min > kAnomaly * std::next(first)->second.min) found.push_back(first->first);
  for (auto left = timings.begin(), mid = std::next(left), right = std::next(mid);
       right != timings.end(); ++left, ++mid, ++right) {
    const double line = interpolate(left, right, static_cast<double>(mid->first));
    if (mid->second.min > kAnomaly * line) found.push_back(mid->first);
  }
  return found;
}

Timings sweep(const Loop& loop, const SweepOptions& options) {
  return std::move(sweep_in_turn({loop}, options).front());
}

std::vector<Timings> sweep_in_turn(const std::vector<Loop>& loops, const SweepOptions& options) {
  Sweep run(loops, options);
  std::set<size_t> start =
      options.only.empty() ? starting_lengths(options.max_bytes) : options.only;
  const bool given = !options.lengths.empty();
  if (given) start.clear();
  for (size_t bytes : given ? options.lengths : options.extra) {
    if (bytes <= options.max_bytes) start.insert(bytes);
  }
  run.tell("first cycles, " + std::to_string(start.size()) + " lengths");
  bool going = true;
  for (int i = 0; going && i < options.first_cycles; ++i) {
    if (i >= kLeastCycles && run.elapsed() >= options.budget) break;
    going = run.cycle({start.begin(), start.end()});
  }
  if (going && options.refine && !given) going = refine(run, options);
  const std::vector<size_t> lengths = run.lengths();
  for (int i = options.first_cycles; going && i < options.max_cycles; ++i) {
    const bool enough = run.elapsed() >= options.budget;
    if (enough &&
        (run.elapsed() >= options.busy_budget || run.repeatable_within() <= kRepeatable)) {
      break;
    }
    run.tell("cycle " + std::to_string(i) + ", " + std::to_string(lengths.size()) + " lengths");
    going = run.cycle(lengths);
  }
  if (going) repeat_anomalies(run);
  return std::move(run.all);
}

std::optional<size_t> find_eager_limit(const std::function<bool(size_t)>& eager, size_t max_bytes) {
  if (!eager(0)) return std::nullopt;
  size_t low = 0;  // eager for certain; `high` was late, by nature or by bad luck
  for (;;) {
    size_t high = std::min(std::max<size_t>(1, 2 * low), max_bytes);
    while (eager(high)) {
      low = high;
      if (low == max_bytes) return max_bytes;
      high = std::min(2 * high, max_bytes);
    }
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (eager(middle) ? low : high) = middle;
    }
    if (!eager(high)) return low;  // asked twice, at another moment
    low = high;
    if (low == max_bytes) return max_bytes;
  }
}

}  // namespace rubato
