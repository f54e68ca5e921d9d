#include "tracer/layout/clock_model.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace rubato;

namespace {

/// The reading, at the parent's time, of a clock that is `ppm` faster than its parent's, and
/// `ahead` of it at the parent's time 0.
ClockSample sample(uint64_t parent, int64_t ahead, double ppm, double deviation = 100) {
  const double drifted = static_cast<double>(parent) * ppm * 1e-6;
  return {parent + static_cast<uint64_t>(ahead + std::llrint(drifted)), parent, deviation};
}

constexpr uint64_t kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("the fastest trips in both directions form one measurement") {
  // The parent is 10000 ahead. Ways there 300, 200, 250 and back 200, 400, 210: the best are 200 of
  // the second exchange and 200 of the first.
  Exchanges exchanges;
  CHECK(exchanges.add(1000, 11300, 1500));
  CHECK(exchanges.add(2000, 12200, 2600));
  CHECK(exchanges.add(3000, 13250, 3460));  // 460 in all, less than 500 and 600
  CHECK_FALSE(exchanges.add(4000, 14300, 4600));
  const ClockSample s = exchanges.sample();
  // (2000 + 1500) / 2, and (12200 + 11300) / 2: exactly 10000 apart. The third exchange alone would
  // have said 13250 - 3230 = 10020.
  CHECK(s.own == 1750);
  CHECK(s.parent == 11750);
  CHECK(s.deviation == Approx(460 / 2 / std::sqrt(3.0)));
}

TEST_CASE("counters of different rates are compared by whole exchanges") {
  // The parent's counter runs at 1.25 times the rate: 250 ticks more in each 1000. The way there is
  // shortest in the first exchange, the way back in the last, for no other reason:
  // 1125 - 1000 = 125 there, 4100 - 4875 = -775 back.
  Exchanges exchanges;
  exchanges.add(1000, 1125, 1200);
  exchanges.add(2000, 2375, 2100);
  exchanges.add(4000, 4875, 4100);
  const ClockSample s = exchanges.sample();
  CHECK(s.own == 2050);
  CHECK(s.parent == 2375);
}

TEST_CASE("the reference clock needs no measurement") {
  const ClockModel model;
  CHECK(model.reference(12345) == 12345);
  CHECK(model.offsets().empty());
  // An interval needs two offsets, at different times.
  const auto records = model.records(77);
  REQUIRE(records.size() == 2);
  CHECK(records[0].time == 77);
  CHECK(records[1].time == 78);
  CHECK(records[0].offset == 0);
  CHECK(records[1].offset == 0);
}

TEST_CASE("one measurement is an offset without drift") {
  const ClockModel model({}, {{5000, 2000, 30}});
  // 2000 - 5000 = -3000, before and after alike.
  REQUIRE(model.offsets().size() == 2);
  CHECK(model.offsets()[0].time == 5000);
  CHECK(model.offsets()[1].time == 5001);
  CHECK(model.reference(4000) == 1000);
  CHECK(model.reference(9000) == 6000);
  CHECK(model.offsets()[0].deviation == 30);
}

TEST_CASE("two measurements define a line that is extrapolated at both ends") {
  // Offsets -1000 at 11000 and -1100 at 21100: slope -100 / 10100.
  const ClockModel model({}, {{11000, 10000, 10}, {21100, 20000, 10}});
  CHECK(model.reference(11000) == 10000);
  CHECK(model.reference(21100) == 20000);
  // Half-way: 16050 - 1050.
  CHECK(model.reference(16050) == 15000);
  // 10100 before the first: offset -900.
  CHECK(model.reference(900) == 0);
  CHECK(model.reference(31200) == 30000);
}

TEST_CASE("a clock that is later than the reference's zero has negative times there, modulo 2^64") {
  // Offset -10^15 on a time of 10^15 + 5: the difference of two of them stays right.
  const uint64_t big = 1'000'000'000'000'000;
  const ClockModel model({}, {{big, 0, 1}, {big + 1000, 1000, 1}});
  CHECK(static_cast<int64_t>(model.reference(big - 7)) == -7);
}

TEST_CASE("steady drift over many epochs is one line") {
  // 50 ppm over 60 s: 3 ms. Errors of +60 and -60 alternate, six epochs each way, below the
  // deviation of 100.
  std::vector<ClockSample> samples;
  for (uint64_t i = 0; i < 12; ++i) {
    ClockSample s = sample(i * 5 * kSecond, 7 * int64_t{kSecond}, 50);
    s.own += i % 2 == 0 ? 60 : static_cast<uint64_t>(-60);
    samples.push_back(s);
  }
  const ClockModel model({}, samples);
  REQUIRE(model.offsets().size() == 2);
  // The errors +60, -60, ... cancel but for the slope they leave: with x = -5.5 ... 5.5 it is
  // sum(x e) / sum(x x) = -360 / 143 = -2.5 per epoch, 14 at the ends. Through the ends alone the
  // line would be 60 off.
  for (uint64_t at : {0 * kSecond, 30 * kSecond, 55 * kSecond}) {
    const ClockSample truth = sample(at, 7 * int64_t{kSecond}, 50);
    const auto error = static_cast<int64_t>(model.reference(truth.own) - at);
    CHECK(std::abs(error) <= 15);
  }
  // 100 / sqrt(12) in the middle, and with the slope's 5.5 * 100 / sqrt(143) = 46 at the ends 54.
  CHECK(model.offsets()[0].deviation == Approx(std::hypot(28.87, 45.99)).epsilon(0.001));
}

TEST_CASE("an uncertain measurement has little weight") {
  // On the line y = 0, but for one that is 900 off and says that it may be 1000 off.
  std::vector<ClockSample> samples;
  for (uint64_t i = 0; i < 5; ++i) samples.push_back({i * 1000000, i * 1000000, 10});
  samples[2].parent += 900;
  samples[2].deviation = 1000;
  const ClockModel model({}, samples);
  REQUIRE(model.offsets().size() == 2);
  // Weights 1/100 four times and 1/10^6: 900 * 10^-6 / (0.04 + 10^-6) = 0.02.
  CHECK(model.reference(2000000) == 2000000);
}

TEST_CASE("bending drift is followed from epoch to epoch") {
  // 20 ppm up to 30 s, then 25 ppm: an epoch each 10 s. The true offset at 60 s is
  // 30 * 20 + 30 * 25 = 1350 us; a line from the first to the last would be wrong by
  // 30 * (22.5 - 20) = 75 us at 30 s.
  const auto own = [](uint64_t t) {
    const uint64_t bend = 30 * kSecond;
    const double drifted =
        t < bend ? static_cast<double>(t) * 20e-6 : 600e3 + static_cast<double>(t - bend) * 25e-6;
    return t + static_cast<uint64_t>(std::llrint(drifted));
  };
  std::vector<ClockSample> samples;
  for (uint64_t t = 0; t <= 60; t += 10) samples.push_back({own(t * kSecond), t * kSecond, 200});
  const ClockModel model({}, samples);
  CHECK(model.offsets().size() == 7);
  for (uint64_t t = 0; t <= 70; t += 5) {
    const auto error = static_cast<int64_t>(model.reference(own(t * kSecond)) - t * kSecond);
    CHECK(std::abs(error) <= 1);
  }
  for (size_t i = 1; i < 7; ++i) CHECK(model.offsets()[i].time > model.offsets()[i - 1].time);

  // One epoch was measured while a process was off its core: 5 us wrong, and it says 10 us. Its
  // neighbours know 200 ns, and their line passes it within that: it is left out.
  samples[5].parent += 5000;
  samples[5].deviation = 10000;
  const ClockModel without({}, samples);
  CHECK(without.offsets().size() == 6);
  const auto error = static_cast<int64_t>(without.reference(own(50 * kSecond)) - 50 * kSecond);
  CHECK(std::abs(error) <= 1);

  // So is the last one, by extrapolation of the two before it; and both if both are bad.
  samples[6].parent -= 4000;
  samples[6].deviation = 9000;
  const ClockModel shorter({}, samples);
  CHECK(shorter.offsets().size() == 5);
  CHECK(std::abs(static_cast<int64_t>(shorter.reference(own(60 * kSecond)) - 60 * kSecond)) <= 1);

  // A bad one that contradicts its neighbours by more than it may be wrong is news: it stays.
  samples[6].parent += 50000;
  CHECK(ClockModel({}, samples).offsets().size() == 6);
}

TEST_CASE("models are composed down the tree") {
  // The parent is 1 s ahead and 30 ppm fast. Its child is 2 s ahead of it and 40 ppm slow against
  // it: against the reference 3 s ahead and 30 - 40 - 0.0012 ppm.
  std::vector<ClockSample> of_parent, of_child;
  for (uint64_t t = 0; t <= 60; t += 20) {
    const ClockSample p = sample(t * kSecond, kSecond, 30, 300);
    of_parent.push_back(p);
    ClockSample c = sample(p.own + 5000000, 2 * int64_t{kSecond}, -40, 400);
    of_child.push_back(c);
  }
  const ClockModel parent({}, of_parent);
  const ClockModel child(parent, of_child);
  REQUIRE(child.offsets().size() == 2);
  // 10 s on the reference: the parent shows 1 + 10 + 300 us, the child 2 s more than that less
  // 40 ppm of 11.0003 s.
  const uint64_t parent_shows = 11 * kSecond + 300'000;
  const uint64_t child_shows = parent_shows + 2 * kSecond - 440'012;
  const auto error = static_cast<int64_t>(child.reference(child_shows) - 10 * kSecond);
  CHECK(std::abs(error) <= 2);
  // Both have errors: more than the child's own 400 / sqrt(4).
  CHECK(child.deviation(of_child[1].own) > 200);
  CHECK(child.deviation(of_child[1].own) < 300);
}

TEST_CASE("nodes with counters of different rates") {
  // 2.0 GHz against 2.5 GHz over an hour: offsets grow by 0.25 ticks a tick.
  const uint64_t ticks = 2'000'000'000;
  std::vector<ClockSample> samples;
  for (uint64_t t : {1, 1800, 3600}) samples.push_back({t * ticks, t * ticks / 4 * 5 + 17, 50});
  const ClockModel model({}, samples);
  CHECK(model.reference(1000 * ticks) == 1250 * ticks + 17);
}

TEST_CASE("samples out of order are left out") {
  const ClockModel model({}, {{100, 200, 1}, {100, 300, 1}, {50, 400, 1}, {200, 300, 1}});
  REQUIRE(model.offsets().size() == 2);
  CHECK(model.reference(150) == 250);
}

TEST_CASE("offsets that came from elsewhere") {
  const ClockModel model =
      ClockModel::from_offsets({{1000, 100, 3}, {2000, 200, 4}, {3000, 200, 3}});
  CHECK(model.reference(1500) == 1650);
  CHECK(model.reference(2500) == 2700);
  CHECK(model.reference(4000) == 4200);
  // Half of each end's error: hypot(1.5, 2).
  CHECK(model.deviation(1500) == Approx(2.5));
}
