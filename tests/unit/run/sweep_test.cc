#include "calibrate/measure/sweep.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/fit/protocol_fit.h"

using rubato::OfLoops;
using rubato::Timing;
using rubato::Timings;

namespace {

/// A network with a step that no power of two and no length halfway shows the place of:
/// 1 us + n * 1 ns up to 5000 bytes, 2 us more beyond.
double step_at_5000(size_t bytes) {
  return 1e-6 + static_cast<double>(bytes) * 1e-9 + (bytes > 5000 ? 2e-6 : 0);
}

rubato::SweepOptions without_clock() {
  rubato::SweepOptions options;
  options.budget = 60;  // never reached: the loops below take no time
  options.busy_budget = 60;
  options.max_cycles = 12;
  options.max_bytes = 65536;
  return options;
}

Timing timing(double seconds) {
  Timing t;
  t.add(seconds, 1, 0);
  return t;
}

}  // namespace

TEST_CASE("starting lengths are powers of two and their middles") {
  CHECK(rubato::starting_lengths(16) == std::set<size_t>{0, 1, 2, 3, 4, 6, 8, 12, 16});
  // An eighth and a byte above 64 and 256: 64 + 8 + 1, 256 + 32 + 1.
  CHECK(rubato::starting_lengths(300) == std::set<size_t>{0,  1,   2,   3,   4,   6,  8,
                                                          12, 16,  24,  32,  48,  64, 73,
                                                          96, 128, 192, 256, 289, 300});
  CHECK(rubato::starting_lengths(1000).count(1000) == 1);  // the largest one, whatever it is
}

TEST_CASE("what counts of some loops, and of every second one") {
  Timing four;
  for (const double seconds : {3., 1., 2., 8.}) four.add(seconds, 1, 0);
  CHECK(four.seconds(OfLoops::kLeast) == 1);
  CHECK(four.seconds(OfLoops::kMedian) == 2.5);  // of 1, 2, 3, 8
  CHECK(four.half(OfLoops::kLeast, 0) == 2);     // 3 and 2
  CHECK(four.half(OfLoops::kLeast, 1) == 1);     // 1 and 8
  CHECK(four.half(OfLoops::kMedian, 0) == 2.5);
  CHECK(four.half(OfLoops::kMedian, 1) == 4.5);
  CHECK(timing(1).half(OfLoops::kMedian, 0) == 0);  // one loop has no halves
}

TEST_CASE("refinement splits both sides of a length that a straight line misses") {
  // At 200 the line between 100 (1 us) and 300 (1 us) says 1 us; measured 2 us: off by 50 %.
  // At 300 the line between 200 (2 us) and 400 (1 us) says 1.5 us; measured 1 us: off by 50 %.
  const Timings timings = {
      {100, timing(1e-6)}, {200, timing(2e-6)}, {300, timing(1e-6)}, {400, timing(1e-6)}};
  std::vector<size_t> middles = rubato::refinement(timings, 0.05);
  std::sort(middles.begin(), middles.end());
  CHECK(middles == std::vector<size_t>{150, 250, 350});
  CHECK(rubato::anomalies(timings) == std::vector<size_t>{200});
  // The shortest has one neighbour: 2 us are more than 10 % above its 1 us.
  CHECK(rubato::anomalies({{0, timing(2e-6)}, {1, timing(1e-6)}, {2, timing(1e-6)}}) ==
        std::vector<size_t>{0});
}

TEST_CASE("refinement leaves straight lines and lengths too close together alone") {
  // 1 us + n * 1 ns is a line.
  CHECK(rubato::refinement({{100, timing(1.1e-6)}, {200, timing(1.2e-6)}, {400, timing(1.4e-6)}},
                           0.01)
            .empty());
  // Closest is 4 bytes: an interval of 7 cannot be halved into two of at least 4.
  CHECK(
      rubato::refinement({{1, timing(1e-6)}, {8, timing(2e-6)}, {15, timing(1e-6)}}, 0.05).empty());
  // It can where a plan says 3: 1 + 7 / 2 and 8 + 7 / 2.
  CHECK(rubato::refinement({{1, timing(1e-6)}, {8, timing(2e-6)}, {15, timing(1e-6)}}, 0.05, 3) ==
        std::vector<size_t>{4, 11});
}

TEST_CASE("a step that powers of two miss is found") {
  const Timings timings =
      rubato::sweep([](size_t bytes, int) { return step_at_5000(bytes); }, without_clock());
  const auto above = timings.upper_bound(5000);
  REQUIRE(above != timings.begin());
  REQUIRE(above != timings.end());
  // The step is 2 us on 6 us, a miss of more than three thresholds near it: lengths close in until
  // an interval cannot be halved into two of 5000 / 512 = 9.8 bytes.
  CHECK(above->first - std::prev(above)->first <= 20);
}

TEST_CASE("adaptive lengths find a planted step that powers of two miss") {
  // 1 us + n * 1 ns, and 40 % more beyond the step, which lies far from powers of two and from
  // their middles. Every loop is late by up to 2 % (only ever late).
  for (const size_t step : {2700u, 5000u, 20000u, 53000u}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const auto time = [&](size_t bytes) {
        return (1e-6 + static_cast<double>(bytes) * 1e-9) * (bytes > step ? 1.4 : 1);
      };
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> late(1, 1.02);
      rubato::SweepOptions options = without_clock();
      options.seed = seed;
      const Timings timings =
          rubato::sweep([&](size_t bytes, int) { return time(bytes) * late(random); }, options);
      std::set<size_t> adaptive;
      for (const auto& [bytes, timing] : timings) adaptive.insert(bytes);
      const auto around = [](const std::set<size_t>& lengths, size_t bytes) {
        const auto above = lengths.upper_bound(bytes);
        return std::pair{*std::prev(above), *above};
      };
      const auto [low, high] = around(rubato::starting_lengths(65536), step);
      const auto [near, far] = around(adaptive, step);
      CAPTURE(step, seed, low, high, near, far);
      // Powers of two and their middles leave a fifth of the size or more open; adaptive lengths
      // close in until an interval cannot be halved into two of 1/512 of its end.
      CHECK(high - low > step / 5);
      CHECK(far - near < 4 * far / 512 + 8);
      // Beside the step, where a straight line from `low` to `high` is wrong by 5 % to 40 %, one
      // between adaptive lengths is wrong by no more than their threshold and the noise.
      for (const size_t bytes : {(low + near) / 2, (far + high) / 2}) {
        const auto [left, right] = around(adaptive, bytes);
        const double share = static_cast<double>(bytes - left) / static_cast<double>(right - left);
        const double line = time(left) + share * (time(right) - time(left));
        CHECK(line == Approx(time(bytes)).epsilon(0.07));
      }
      // No other place is refined: a halving measures the middles of up to four intervals around
      // the step, and high - low is halved seven times.
      CHECK(adaptive.size() <= rubato::starting_lengths(65536).size() + 28);
    }
  }
}

TEST_CASE("a staircase whose pitch divides powers of two is found") {
  // Smooth up to 60000 bytes, then pieces of 16 KiB: 6 us + 2 us for each that is begun. At 64, 96,
  // 128, ... KiB the last one is full: a straight line, 6 us + n * 2 us / 16 KiB. At 73729 bytes a
  // fifth one is begun: 16 us, where the line between 64 and 96 KiB says 15.
  const auto time = [](size_t bytes) {
    const double pieces = std::ceil(static_cast<double>(bytes) / 16384);
    return bytes <= 60000 ? 1e-6 + static_cast<double>(bytes) * 0.2e-9 : 6e-6 + 2e-6 * pieces;
  };
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> late(1, 1.01);
    rubato::SweepOptions options = without_clock();
    options.max_bytes = 1 << 20;
    options.seed = seed;
    const Timings timings =
        rubato::sweep([&](size_t bytes, int) { return time(bytes) * late(random); }, options);
    // The steps at 64 and 80 KiB are found, each to a 64th of its place (a miss of 6 % is less than
    // three thresholds).
    for (const size_t step : {65536u, 81920u}) {
      const auto above = timings.upper_bound(step);
      REQUIRE(above != timings.end());
      CAPTURE(step, std::prev(above)->first, above->first);
      CHECK(above->first - std::prev(above)->first <= 2 * step / 64 + 4);
    }
  }
}

TEST_CASE("noise alone adds no lengths") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> late(1, 1.03);
    const Timings timings = rubato::sweep(
        [&](size_t bytes, int) {
          return (1e-6 + static_cast<double>(bytes) * 1e-9) * late(random);
        },
        without_clock());
    CAPTURE(seed);
    CHECK(timings.size() == rubato::starting_lengths(65536).size());
  }
}

TEST_CASE("the minimum of averages survives disturbances") {
  // Every third loop is disturbed by up to 100 %; positive only, as mpptest's model has it.
  std::mt19937 random(11);
  const Timings timings = rubato::sweep(
      [&](size_t bytes, int) {
        const double disturbance = random() % 3 ? 0 : static_cast<double>(random() % 1000) / 1000;
        return step_at_5000(bytes) * (1 + disturbance);
      },
      without_clock());
  for (const auto& [bytes, t] : timings) {
    CAPTURE(bytes);
    // At least 8 loops, 2 in 3 of them undisturbed: all are disturbed once in 3^8 = 6561 lengths.
    CHECK(t.min == Approx(step_at_5000(bytes)).epsilon(1e-9));
    CHECK(t.max >= t.average() * (1 - 1e-9));  // a sum of many rounds
    CHECK(t.average() >= t.min * (1 - 1e-9));
  }
  CHECK(rubato::repeatability(rubato::timed_lengths(timings)) < 1e-9);
}

TEST_CASE("a sweep that is stopped keeps what it has") {
  int loops = 0;
  rubato::SweepOptions options = without_clock();
  options.stop = [&] { return loops >= 10; };
  const Timings timings = rubato::sweep(
      [&](size_t bytes, int) {
        ++loops;
        return step_at_5000(bytes);
      },
      options);
  CHECK(timings.size() ==
        5);  // two loops for each new length, the first of them to find its duration
}

TEST_CASE("each loop is kept with its end and what it averages over") {
  // A round trip takes 10 us, so five of them make a loop of 50 us. The forgotten first loop, of
  // two, ends at 20 us; the others 50 us after each other: at 70, 120, and 170 us.
  double passed = 0;
  rubato::SweepOptions options = without_clock();
  options.clock = [&] { return passed; };
  options.lengths = {8};
  options.max_cycles = 3;
  options.first_cycles = 3;
  const rubato::Timings timings = rubato::sweep(
      [&](size_t, int round_trips) {
        passed += round_trips * 10e-6;
        return 10e-6;
      },
      options);
  const Timing& timing = timings.at(8);
  REQUIRE(timing.ended.size() == 3);
  CHECK(timing.ended[0] == Approx(70e-6));
  CHECK(timing.ended[2] == Approx(170e-6));
  CHECK(timing.round_trips_of == std::vector<int>{5, 5, 5});
  CHECK(timing.all == std::vector<double>{10e-6, 10e-6, 10e-6});
}

TEST_CASE("time is spent on lengths with an uncertain mean") {
  // 1 us for 8 B, always; 16 B in turn 2 us and 4 us: 3 us with a standard error of 1 us / sqrt(48)
  // after 48 loops, 4.8 % of it. 8 B is settled in cycle 12, behind ten loops or more (judged in
  // every fourth cycle), and then measured in the cycles 12, 16, ... 44 only: 12 + 9.
  int turn = 0;
  const auto loop = [&](size_t bytes, int) {
    return bytes == 8 ? 1e-6 : (++turn % 2 ? 2e-6 : 4e-6);
  };
  rubato::SweepOptions options = without_clock();
  options.lengths = {8, 16};
  options.max_cycles = 48;
  const rubato::Timings same = rubato::sweep(loop, options);
  CHECK(same.at(8).loops == 48);
  options.settled_at = 0.01;
  std::set<std::string> told;
  options.progress = [&](const std::string& text) { told.insert(text); };
  const rubato::Timings rule = rubato::sweep(loop, options);
  CHECK(rule.at(8).loops == 21);
  CHECK(rule.at(16).loops == 48);
  CHECK(told.count("cycle 12, 2 lengths") == 1);
  CHECK(told.count("cycle 13, 1 of 2 lengths") == 1);
}

TEST_CASE("the eager limit is found to the byte") {
  const auto up_to = [](size_t limit) { return [limit](size_t bytes) { return bytes <= limit; }; };
  CHECK(rubato::find_eager_limit(up_to(4040), 1 << 20) == 4040u);
  CHECK(rubato::find_eager_limit(up_to(4096), 1 << 20) == 4096u);
  CHECK(rubato::find_eager_limit(up_to(0), 1 << 20) == 0u);
  CHECK(rubato::find_eager_limit(up_to(1 << 30), 1000) == 1000u);  // all of them
  CHECK(!rubato::find_eager_limit([](size_t) { return false; }, 1000));
  // One wrong "no", at the first length between: the search ends there, measures again and
  // continues.
  bool lied = false;
  const auto liar = [&](size_t bytes) {
    if (bytes > 2048 && bytes < 4040 && !lied) {
      lied = true;
      return false;
    }
    return bytes <= 4040;
  };
  CHECK(rubato::find_eager_limit(liar, 1 << 20) == 4040u);
}

TEST_CASE("compared loops run alternately, length by length") {
  // The second loop takes twice as long as the first; both record their arguments.
  std::vector<std::pair<int, size_t>> runs;
  const auto loop = [&](int which) {
    return [&runs, which](size_t bytes, int) {
      runs.emplace_back(which, bytes);
      return (which + 1) * (1e-6 + static_cast<double>(bytes) * 1e-9);
    };
  };
  rubato::SweepOptions options = without_clock();
  options.only = {8, 64, 512};
  options.refine = false;
  const std::vector<Timings> timings = rubato::sweep_in_turn({loop(0), loop(1)}, options);
  REQUIRE(timings.size() == 2);
  for (const size_t bytes : {8, 64, 512}) {
    CHECK(timings[0].at(bytes).min == Approx(1e-6 + static_cast<double>(bytes) * 1e-9));
    CHECK(timings[1].at(bytes).min == Approx(2e-6 + static_cast<double>(bytes) * 2e-9));
    CHECK(timings[0].at(bytes).loops == timings[1].at(bytes).loops);
  }
  // No length is left before both have run it.
  size_t turns = 0;
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].second != runs[i - 1].second) CHECK(runs[i - 1].first == 1);
    if (runs[i].first != runs[i - 1].first) ++turns;
  }
  CHECK(turns > 2 * 3);
}

namespace {

/// A machine that is `factor` times slower from time to time, with a real step at 5000 bytes, and
/// late by up to 1 % at random. Its states are given by numbers of loops, because it has no clock.
class TwoSpeeds {
 public:
  TwoSpeeds(double factor, std::function<bool(int)> slow, unsigned seed)
      : factor_(factor), slow_(std::move(slow)), random_(seed) {}

  double operator()(size_t bytes) {
    const double late = std::uniform_real_distribution<double>(1, 1.01)(random_);
    return step_at_5000(bytes) * late * (slow_(loops_++) ? factor_ : 1);
  }

 private:
  double factor_;
  std::function<bool(int)> slow_;
  std::mt19937 random_;
  int loops_ = 0;
};

}  // namespace

TEST_CASE("a machine with two speeds has only its own steps") {
  // 38 starting lengths need 38 x 9 loops at first (one more each, to see how long they take), so
  // that each phase falls into another part of the sweep: 1300 loops fast, 700 slow.
  for (int phase = 0; phase < 2000; phase += 125) {
    TwoSpeeds machine(
        2.5, [&](int loop) { return (loop + phase) % 2000 >= 1300; },
        1 + static_cast<unsigned>(phase));
    rubato::SweepOptions options = without_clock();
    const Timings timings =
        rubato::sweep([&](size_t bytes, int) { return machine(bytes); }, options);
    CAPTURE(phase);
    // As many lengths as the one step asks for: see "adaptive lengths find a planted step".
    CHECK(timings.size() <= rubato::starting_lengths(65536).size() + 28);
    const auto above = timings.upper_bound(5000);
    CHECK(above->first - std::prev(above)->first <= 20);
    double worst = 1;
    for (const auto& [bytes, timing] : timings)
      worst = std::max(worst, timing.min / step_at_5000(bytes));
    CHECK(worst <= 1.01);
  }
}

TEST_CASE("a machine that has become slower for good is measured as it is now") {
  // 38 x 9 loops for the starting lengths at first; then everything takes twice as long. What was
  // measured before does not count any more: the step is found, and no other.
  TwoSpeeds machine(
      2, [](int loop) { return loop >= 38 * 9; }, 1);
  REQUIRE(rubato::starting_lengths(65536).size() == 38);
  rubato::SweepOptions options = without_clock();
  options.budget = 1;  // a quarter of it waiting
  options.busy_budget = 1;
  const Timings timings = rubato::sweep([&](size_t bytes, int) { return machine(bytes); }, options);
  CHECK(timings.size() <= 38 + 28);
  double least = 3, most = 1;
  for (const auto& [bytes, timing] : timings) {
    least = std::min(least, timing.min / step_at_5000(bytes));
    most = std::max(most, timing.min / step_at_5000(bytes));
  }
  CHECK(least >= 2);
  CHECK(most <= 2.02);
}

TEST_CASE("a machine of one speed that is late at random is not taken for a slow one") {
  // Each loop is late by 20 % in the mean. The least of two is later than 15 % once in five times
  // (exp(-0.15 / 0.2)^2 = 0.22), so one of five lengths would look slow after most cycles, and
  // hardly a cycle would count; of the least of twelve it is one in 8000.
  const auto loops_of = [](double lateness, unsigned seed, Timings& timings) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> late(1);
    rubato::SweepOptions options = without_clock();
    int loops = 0;
    options.stop = [&loops] { return loops > 20000; };
    timings = rubato::sweep(
        [&](size_t bytes, int) {
          ++loops;
          return step_at_5000(bytes) * (1 + lateness * late(random));
        },
        options);
    return loops;
  };
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Timings timings;
    const int undisturbed = loops_of(0, seed, timings);
    CAPTURE(seed, undisturbed);
    CHECK(loops_of(0.2, seed, timings) < 2 * undisturbed);
    const auto above = timings.upper_bound(5000);
    CHECK(above->first - std::prev(above)->first <= 20);
  }
}

TEST_CASE("waits shortened by a busy machine still reveal the protocol") {
  // A message of 10 us and n / 1 GB/s whose data flows as soon as one of its ends is in MPI: while
  // both compute it waits, so the receiver is said to be needed. A rank that loses its processor
  // while it computes finds the message there: a fifth of the waits take 0.1 us.
  const auto data = [](size_t bytes) { return 10e-6 + static_cast<double>(bytes) * 1e-9; };
  std::mt19937 random(5);
  rubato::SweepOptions options = without_clock();
  options.refine = false;
  options.only = {0, 4096, 8192, 16384, 32768, 65536};
  const Timings one_way = rubato::sweep([&](size_t bytes, int) { return data(bytes); }, options);
  const Timings idle = rubato::sweep([](size_t, int) { return 0.1e-6; }, options);
  const Timings both = rubato::sweep(
      [&](size_t bytes, int) { return random() % 5 ? data(bytes) : 0.1e-6; }, options);
  const auto kinds = [&](const std::vector<rubato::TimedLength>& of_both) {
    return rubato::find_protocols(4096, {rubato::timed_lengths(idle, OfLoops::kMedian), of_both},
                                  rubato::timed_lengths(one_way),
                                  rubato::timed_lengths(idle, OfLoops::kMedian));
  };
  const auto found = kinds(rubato::timed_lengths(both, OfLoops::kMedian));
  REQUIRE(found.size() == 1);
  CHECK(found[0].protocol == rubato::Protocol::kPull);
  // The least of 12 loops is a short one but once in 15 lengths (0.8^12): that would be async.
  CHECK(kinds(rubato::timed_lengths(both))[0].protocol == rubato::Protocol::kAsync);
  CHECK(rubato::counts_by_median("both_compute", 8, {}));
  CHECK(rubato::counts_by_median("receive_overhead", 4096, 4096.));
  CHECK(!rubato::counts_by_median("receive_overhead", 4095, 4096.));
  CHECK(!rubato::counts_by_median("pingpong", 4096, 4096.));
}
