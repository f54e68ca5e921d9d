#include "calibrate/measure/sweep.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include "calibrate/clock/clock.h"
#include "calibrate/plan/quick_plan.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

constexpr int kRefinementRounds = 12;
constexpr int kLeastCycles = 3;  // even if they take long on a busy machine
constexpr double kAnomaly = 1.10;
constexpr int kAnomalyLoops = 10;
constexpr int kSettledEvery =
    4;  // cycles until settled lengths are measured, and all are judged, again
constexpr int kLoopsToSettle = 10;
constexpr double kShortest = 1e-9;  // seconds: messages to oneself take no time in a simulator

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
        begin_(time()) {}

  bool stopped() const { return options_.stop && options_.stop(); }
  double elapsed() const { return time() - begin_; }

  /// The lengths for which the budget is long enough, judged by the time of some visits.
  std::set<size_t> affordable(const std::set<size_t>& lengths) const {
    constexpr size_t kFirst = 4096, kStep = 16;
    constexpr double kShare = 0.125;  // of the budget, for the longest of these visits
    constexpr int kLooks = 2;         // the first one may be disturbed
    VisitCost cost;
    const auto visit = [&](size_t bytes) {
      double least = HUGE_VAL;
      for (int i = 0; i < kLooks; ++i) {
        const double before = time();
        for (const Loop& loop : loops_) loop(bytes, options_.min_round_trips);
        least = std::min(least, time() - before);
      }
      cost.add(bytes, std::max(least, options_.loop_seconds));
    };
    const size_t longest = *lengths.rbegin();
    visit(*lengths.begin());
    for (size_t bytes = kFirst; bytes < longest && !stopped(); bytes *= kStep) {
      if (cost(bytes) > kShare * options_.budget) break;
      visit(bytes);
    }
    // The first loop over a length does not count.
    return affordable_lengths(lengths, {options_.extra.begin(), options_.extra.end()}, cost,
                              kLeastCycles + 1, options_.budget - elapsed());
  }

  /// Runs each loop once for one length, with the number of round trips that it needs.
  void measure(size_t bytes) {
    for (size_t i = 0; i < loops_.size(); ++i) measure(loops_[i], bytes, all[i][bytes]);
  }

  void measure(const Loop& loop, size_t bytes, Timing& timing) {
    double known = timing.min;
    // The first loop is short: it determines the round trips of the others and does not count.
    if (timing.loops == 0) known = loop(bytes, options_.min_round_trips);
    const int round_trips = round_trips_of(known);
    const double seconds = loop(bytes, round_trips);
    timing.add(seconds, round_trips, time());
  }

  /// The present time of a length, by the first loop; not recorded.
  double look(size_t bytes) {
    return std::max(kShortest, loops_.front()(bytes, round_trips_of(timings.at(bytes).min)));
  }

  /// Measures each of the lengths once, in a new random order. False if interrupted.
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

  /// Difference of the two halves, of the worst loop.
  double repeatable_within() const {
    double worst = 0;
    for (const Timings& one : all)
      worst = std::max(worst, repeatability(timed_lengths(one, options_.of_loops)));
    return worst;
  }

  /// True if loops over a length never differ: in a simulator, where more loops are useless.
  bool exact() const {
    constexpr double kDigits = 1e-4;
    for (const Timings& one : all) {
      for (const auto& [bytes, timing] : one) {
        if (timing.loops < options_.first_cycles || timing.max > (1 + kDigits) * timing.min)
          return false;
      }
    }
    return true;
  }

  /// The lengths that are not settled, by any of the loops; all of them without a rule.
  std::vector<size_t> uncertain() const {
    StopRule rule;
    rule.least = kLoopsToSettle;
    rule.most = std::numeric_limits<int>::max();
    rule.relative_standard_error = options_.settled_at;
    std::vector<size_t> found;
    for (const size_t bytes : lengths()) {
      const bool settled =
          options_.settled_at > 0 && std::all_of(all.begin(), all.end(), [&](const Timings& one) {
            return stop_measuring(without_outliers(one.at(bytes).all), rule) == Stop::kSettled;
          });
      if (!settled) found.push_back(bytes);
    }
    return found;
  }

  std::vector<Timings> all;  ///< by loop
  Timings& timings;          ///< of the first one

 private:
  double time() const { return options_.clock ? options_.clock() : now(); }

  /// Makes a loop long enough for the clock, unless messages take no time at all (to oneself in a
  /// simulator).
  int round_trips_of(double seconds) const {
    if (seconds <= kShortest) return options_.min_round_trips;
    return static_cast<int>(std::clamp(std::ceil(options_.loop_seconds / seconds),
                                       double(options_.min_round_trips),
                                       double(options_.max_round_trips)));
  }

  const std::vector<Loop>& loops_;
  const SweepOptions& options_;
  std::mt19937 random_;
  double begin_;
};

/// Measures anomalies again, a few loops each.
bool repeat_anomalies(Sweep& run) {
  std::set<size_t> lengths;
  for (const Timings& one : run.all) {
    for (const size_t bytes : anomalies(one)) lengths.insert(bytes);
  }
  return run.cycles(kAnomalyLoops, {lengths.begin(), lengths.end()});
}

/// Cycles over a part of the lengths, at the speed that the machine had when the others were
/// measured. A machine may have two speeds (two ranks that share a core for some seconds, a core
/// that gets hot), and a length measured at one speed among neighbours measured at the other looks
/// like a step. So some lengths of the coarse grid are checked after each cycle. A slow cycle is
/// dropped and repeated; if the machine became faster, all lengths are measured again. The old
/// speed may never return: after a while all lengths are measured anew at the present speed, which
/// is then accepted.
class ComparableCycles {
 public:
  ComparableCycles(Sweep& run, const SweepOptions& options) : run_(run), options_(options) {
    const std::vector<size_t> lengths = run.lengths();
    for (size_t i = 1; i <= kReferences; ++i)
      references_.push_back(lengths[i * lengths.size() / (kReferences + 1)]);
  }

  /// Waits until the machine has the speed at which all lengths were measured, or the time for
  /// cycles is over. False if interrupted.
  bool settle() {
    while (!same_ && !taken_as_it_is_ && run_.elapsed() <= options_.budget / 2) {
      if (run_.stopped() || !catch_up()) return false;
    }
    return true;
  }

  /// One more cycle, unless the time for cycles is over. False if interrupted.
  bool cycle(const std::vector<size_t>& lengths) {
    while (run_.elapsed() <= options_.budget / 2) {
      if (taken_as_it_is_) return run_.cycle(lengths);
      if (!settle()) return false;
      if (!same_) continue;
      const std::vector<Timings> known = run_.all;
      if (!run_.cycle(lengths)) return false;
      same_ = speed() == Speed::kSame;
      if (same_) return true;
      run_.all = known;
    }
    return true;
  }

 private:
  enum class Speed { kSame, kFaster, kSlower };
  static constexpr size_t kReferences = 5;
  // Number of checks, of which the fastest counts: two if that is as fast as before. A loop may be
  // late at random, so more checks are needed before the machine is considered slow.
  static constexpr int kLooks = 2;
  static constexpr int kMostLooks = 12;
  static constexpr double kWithin = 1.15;    // relative to the earlier time
  static constexpr double kPatience = 0.25;  // of the budget

  Speed speed() {
    Speed speed = Speed::kSame;
    for (const size_t bytes : references_) {
      const double known = run_.timings.at(bytes).min;
      double least = HUGE_VAL;
      for (int i = 0; i < kLooks || (least > kWithin * known && i < kMostLooks); ++i) {
        if (i >= kLooks && run_.stopped()) break;
        least = std::min(least, run_.look(bytes));
      }
      if (least > kWithin * known) return Speed::kSlower;
      if (kWithin * least < known) speed = Speed::kFaster;
    }
    return speed;
  }

  /// Measures all lengths once more if the machine is as fast as before, or faster: some of them
  /// may have times of its slow speed. If it is slow, waits; after kPatience, measures all of them
  /// anew. False if interrupted.
  bool catch_up() {
    const Speed now = speed();
    if (now != Speed::kSlower) {
      same_ = now == Speed::kSame && slow_since_ < 0;
      if (same_) return true;
      slow_since_ = -1;
      if (!run_.cycles(kLeastCycles, run_.lengths())) return false;
      same_ = speed() == Speed::kSame;
      return true;
    }
    if (slow_since_ < 0) slow_since_ = run_.elapsed();
    if (run_.elapsed() - slow_since_ <= kPatience * options_.budget) return true;
    taken_as_it_is_ = true;
    const std::vector<Timings> known = run_.all;
    const std::vector<size_t> lengths = run_.lengths();
    for (Timings& one : run_.all) {
      for (auto& [bytes, timing] : one) timing = {};
    }
    if (run_.cycles(options_.first_cycles, lengths)) return true;
    run_.all = known;
    return false;
  }

  Sweep& run_;
  const SweepOptions& options_;
  std::vector<size_t> references_;
  bool same_ = false;  ///< the speed was the same at the last check
  bool taken_as_it_is_ = false;
  double slow_since_ = -1;  ///< seconds of the run; below 0: not slow
};

/// Adds lengths until straight lines between them are good enough. Their neighbours are measured
/// with them, since a disturbed neighbour would add needless lengths.
bool refine(Sweep& run, const SweepOptions& options) {
  ComparableCycles comparable(run, options);
  for (int round = 0; round < kRefinementRounds; ++round) {
    if (options.planned && run.elapsed() > options.budget / 2) return true;
    if (!repeat_anomalies(run) || !comparable.settle()) return false;
    const double threshold =
        run.exact() ? std::min(options.exact_threshold, options.threshold) : options.threshold;
    std::vector<size_t> middles = refinement(run.timings, threshold, options.separation);
    const size_t left = options.max_lengths - std::min(options.max_lengths, run.timings.size());
    middles.resize(std::min(middles.size(), left));
    if (middles.empty() || run.elapsed() > options.budget / 2) return true;
    std::set<size_t> chosen(middles.begin(), middles.end());
    for (size_t bytes : middles) {
      const auto above = run.timings.lower_bound(bytes);
      if (above != run.timings.end()) chosen.insert(above->first);
      if (above != run.timings.begin()) chosen.insert(std::prev(above)->first);
    }
    run.tell("refining, " + std::to_string(run.timings.size() + middles.size()) + " lengths");
    for (int i = 0; i < options.first_cycles; ++i) {
      if (!comparable.cycle({chosen.begin(), chosen.end()})) return false;
    }
  }
  return true;
}

}  // namespace

void Timing::add(double seconds, int round_trips_of_loop, double ended_at) {
  seconds = std::max(seconds, kShortest);
  min = loops ? std::min(min, seconds) : seconds;
  max = loops ? std::max(max, seconds) : seconds;
  sum += seconds;
  ++loops;
  round_trips = round_trips_of_loop;
  all.push_back(seconds);
  ended.push_back(ended_at);
  round_trips_of.push_back(round_trips_of_loop);
}

double Timing::seconds(OfLoops of_loops) const {
  if (of_loops == OfLoops::kLeast || all.empty()) return min;
  return median(all);
}

double Timing::half(OfLoops of_loops, size_t which) const {
  if (loops < 2) return 0;
  std::vector<double> every_second;
  for (size_t i = which; i < all.size(); i += 2) every_second.push_back(all[i]);
  return of_loops == OfLoops::kMedian ? median(every_second)
                                      : *std::min_element(every_second.begin(), every_second.end());
}

std::set<size_t> starting_lengths(size_t max_bytes) {
  std::set<size_t> lengths = {0, 1, max_bytes};
  for (size_t n = 2; n <= max_bytes; n *= 2) {
    lengths.insert(n);
    if (n + n / 2 <= max_bytes) lengths.insert(n + n / 2);
  }
  // A staircase whose step length divides powers of two (pages, packets, fragments of a pipeline)
  // looks like a straight line at all of these lengths, which are at the ends of steps. So a few
  // lengths are at the begin of a step.
  for (size_t n = 64; n + n / 8 + 1 <= max_bytes; n *= 4) lengths.insert(n + n / 8 + 1);
  return lengths;
}

std::vector<size_t> refinement(const Timings& timings, double threshold, size_t separation) {
  std::map<size_t, double> miss_of_middle;
  const auto split = [&](size_t low, size_t high, double miss) {
    const size_t closest = std::max(separation, high / (miss > 3 * threshold ? 512 : 64));
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

std::vector<TimedLength> timed_lengths(const Timings& timings, OfLoops of_loops) {
  std::vector<TimedLength> lengths;
  for (const auto& [bytes, timing] : timings) {
    lengths.push_back({static_cast<double>(bytes),
                       1,
                       timing.seconds(of_loops),
                       {timing.half(of_loops, 0), timing.half(of_loops, 1)},
                       1});
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
  if (options.planned && !given && start.size() > 3) {
    const std::set<size_t> affordable = run.affordable(start);
    if (affordable.size() < start.size()) {
      if (options.left_out) options.left_out(start, affordable);
      start = affordable;
    }
  }
  run.tell("first cycles, " + std::to_string(start.size()) + " lengths");
  const int least_cycles = options.planned ? 1 : kLeastCycles;
  bool going = true;
  for (int i = 0; going && i < options.first_cycles; ++i) {
    if (i >= least_cycles && run.elapsed() >= options.budget) break;
    going = run.cycle({start.begin(), start.end()});
  }
  if (going && options.refine && !given) going = refine(run, options);
  const std::vector<size_t> lengths = run.lengths();
  std::vector<size_t> uncertain;
  for (int i = options.first_cycles; going && i < options.max_cycles; ++i) {
    if (run.exact()) break;
    const bool enough = run.elapsed() >= options.budget;
    if (enough &&
        (run.elapsed() >= options.busy_budget || run.repeatable_within() <= kRepeatable)) {
      break;
    }
    if (i % kSettledEvery == 0) uncertain = run.uncertain();
    const bool whole = i % kSettledEvery == 0 || uncertain.empty();
    run.tell("cycle " + std::to_string(i) + ", " +
             (whole ? "" : std::to_string(uncertain.size()) + " of ") +
             std::to_string(lengths.size()) + " lengths");
    going = run.cycle(whole ? lengths : uncertain);
  }
  if (going && !(options.planned && run.elapsed() >= options.budget)) repeat_anomalies(run);
  return std::move(run.all);
}

std::optional<size_t> find_eager_limit(const std::function<bool(size_t)>& eager, size_t max_bytes) {
  if (!eager(0)) return std::nullopt;
  size_t low = 0;  // certainly eager; `high` was late, because of its length or by chance
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
    if (!eager(high)) return low;  // confirmed at another moment
    low = high;
    if (low == max_bytes) return max_bytes;
  }
}

}  // namespace rubato
