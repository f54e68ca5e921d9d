#include "models/fit/overheads.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "models/fit/level_fit.h"

using namespace rubato;

namespace {

SegmentedFit curve(std::vector<Segment> segments) {
  SegmentedFit fit;
  fit.segments = std::move(segments);
  return fit;
}

double at(const std::vector<Segment>& segments, double n) {
  return TransferCurve(segments)(n);  // refuses negative times and negative slopes
}

/// The truth: everything is copied at both ends up to 4096 bytes (o_s = 50 ns + n / 10 GB/s, o_r =
/// 80 ns + n / 8 GB/s, T = 300 ns + n / 5 GB/s); beyond, messages are handshaken (o_s = 40 ns, o_r
/// that of nothing, T = 2 us + n / 10 GB/s). An unexpected message is copied twice: o_r + n / 8
/// GB/s.
double send_truth(double n) {
  return n <= 4096 ? 50e-9 + n * 0.1e-9 : 40e-9;
}
double receive_truth(double n) {
  return n <= 4096 ? 80e-9 + n * 0.125e-9 : 80e-9;
}
double transfer_truth(double n) {
  return n <= 4096 ? 300e-9 + n * 0.2e-9 : 2e-6 + n * 0.1e-9;
}
double unexpected_truth(double n) {
  return receive_truth(n) + n * 0.125e-9;
}

LevelSamples samples_with(double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  const auto timed = [&](double n, double seconds) {
    TimedLength length{n, 1, 0, {}, 1};
    for (double& half : length.half) half = seconds * (1 + noise * std::abs(normal(random)));
    length.seconds = std::min(length.half[0], length.half[1]);
    return length;
  };
  LevelSamples samples;
  samples.probe = {4096., 4097.};
  std::vector<double> lengths = {0, 1, 4097};
  for (double n = 2; n <= 1 << 20; n *= 2) {
    lengths.push_back(n);
    if (n < 1 << 20) lengths.push_back(1.5 * n);
  }
  std::sort(lengths.begin(), lengths.end());
  for (const double n : lengths) {
    const double whole = send_truth(n) + transfer_truth(n) + receive_truth(n);
    samples.transfer.push_back(timed(n, whole));
    samples.overheads.send.push_back(timed(n, send_truth(n)));
    // Above the limit the receiver is there for the transfer.
    samples.overheads.receive.push_back(timed(n, n <= 4096 ? receive_truth(n) : whole));
    if (n <= 4096) samples.overheads.unexpected.push_back(timed(n, unexpected_truth(n)));
  }
  return samples;
}

}  // namespace

TEST_CASE("overheads are subtracted from the transfer time once") {
  // 1 us + n / 1 GB/s in all, 100 ns + n / 10 GB/s and 200 ns + n / 5 GB/s at the ends: T = 700 ns
  // + n (1 - 0.1 - 0.2) ns = 700 ns + 0.7 n ns. From 1000 bytes on 3 us + n / 2 GB/s, and the
  // receiver's 200 ns: T = 3 us - 300 ns + n (0.5 - 0.1) ns = 2.7 us + 0.4 n ns.
  const OneWayParts parts =
      take_apart(curve({{0, 1e-6, 1e-9}, {1000, 3e-6, 0.5e-9}}), curve({{0, 100e-9, 0.1e-9}}),
                 curve({{0, 200e-9, 0.2e-9}, {1000, 200e-9, 0}}));
  CHECK(at(parts.transfer, 0) == Approx(700e-9));
  CHECK(at(parts.transfer, 999) == Approx(700e-9 + 999 * 0.7e-9));
  CHECK(at(parts.transfer, 5000) == Approx(2.7e-6 + 5000 * 0.4e-9));
  CHECK(at(parts.send, 5000) == Approx(600e-9));
  CHECK(parts.send.size() == 1);  // it goes on as it did
  CHECK(parts.receive.size() == 2);
}

TEST_CASE("overheads larger than the whole time are reduced, that of the sender first") {
  // 100 ns in all; 80 and 50 at the ends: o_s = 50, T = 0. From 100 bytes on 30 ns: o_s = 0 and o_r
  // = 30.
  const OneWayParts parts = take_apart(curve({{0, 100e-9, 0}, {100, 30e-9, 0}}),
                                       curve({{0, 80e-9, 0}}), curve({{0, 50e-9, 0}}));
  CHECK(at(parts.send, 0) == Approx(50e-9));
  CHECK(at(parts.receive, 0) == Approx(50e-9));
  CHECK(at(parts.transfer, 0) == 0);
  CHECK(at(parts.send, 200) == 0);
  CHECK(at(parts.receive, 200) == Approx(30e-9));
  // Slopes likewise: 1 ns per byte in all, 0.8 and 0.4 at the ends: 0.6 remain to the sender.
  const OneWayParts slopes = take_apart(curve({{0, 1e-6, 1e-9}}), curve({{0, 100e-9, 0.8e-9}}),
                                        curve({{0, 100e-9, 0.4e-9}}));
  CHECK(at(slopes.send, 1000) == Approx(100e-9 + 1000 * 0.6e-9));
  CHECK(at(slopes.transfer, 1000) == Approx(800e-9));
}

TEST_CASE("the three parts of any curves add up to the whole") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto any = [&](double seconds) {
    SegmentedFit fit;
    for (double from = 0; from < 1e6; from = from * 10 + 1000 * uniform(random)) {
      fit.segments.push_back({from, seconds * uniform(random), seconds * 1e-3 * uniform(random)});
    }
    return fit;
  };
  for (int i = 0; i < 200; ++i) {
    const SegmentedFit whole = any(1e-6), send = any(0.8e-6), receive = any(0.8e-6);
    const OneWayParts parts = take_apart(whole, send, receive);
    for (const double n : {0., 1., 500., 999., 1000., 5e3, 1e5, 1e7}) {
      CHECK(at(parts.send, n) + at(parts.transfer, n) + at(parts.receive, n) ==
            Approx(whole(n)).epsilon(1e-9));
      CHECK(at(parts.send, n) <= send(n) * (1 + 1e-9));
      CHECK(at(parts.receive, n) <= receive(n) * (1 + 1e-9));
    }
  }
}

TEST_CASE("overheads and transfer times are recovered from noisy samples") {
  for (unsigned seed = 0; seed <= 5; ++seed) {
    CAPTURE(seed);
    const LevelSamples samples = samples_with(seed == 0 ? 0 : 0.02, seed);
    Platform platform;
    add_level(platform, Level::kNode, fit_level(samples), samples.probe);
    REQUIRE(platform.level(Level::kNode));
    const LevelModel& model = *platform.level(Level::kNode);
    for (const double n : {0., 64., 1024., 4096., 4097., 65536., 1048576.}) {
      CAPTURE(n);
      const double whole = send_truth(n) + transfer_truth(n) + receive_truth(n);
      CHECK(model.send_overhead(n) + model.transfer(n) + model.receive_overhead(n) ==
            Approx(whole).epsilon(0.04));
      CHECK(model.send_overhead(n) == Approx(send_truth(n)).epsilon(0.08));
      CHECK(model.receive_overhead(n) == Approx(receive_truth(n)).epsilon(0.08));
      // T is a difference: a few per cent of the whole.
      CHECK(model.transfer(n) == Approx(transfer_truth(n)).margin(0.06 * whole));
    }
    REQUIRE(model.unexpected_overhead);
    CHECK((*model.unexpected_overhead)(2048) == Approx(unexpected_truth(2048)).epsilon(0.08));
  }
}

TEST_CASE("the uncertainty of an overhead is that of its own side of the eager limit") {
  // Without residuals; halves 2 % apart up to 4096 bytes, where a copy is timed, and 20 % beyond,
  // where a handshake is. Beyond are more lengths: a median over all would be theirs.
  OverheadSamples samples;
  for (double n = 256; n <= 1 << 24; n *= 2) {
    const double apart = n <= 4096 ? 1.02 : 1.2;
    const double sent = send_truth(n), received = receive_truth(n);
    samples.send.push_back({n, 1, sent, {sent, apart * sent}, 1});
    samples.receive.push_back({n, 1, received, {received, apart * received}, 1});
    samples.unexpected.push_back({n, 1, received, {received, apart * received}, 1});
  }
  const OverheadFit fit = fit_overheads(samples, 4097);
  REQUIRE(fit.send->segments.size() == 2);
  // Half of that, times 1.4826, and 4 % / sqrt(2) for the launch (timed_length.h):
  // sqrt(1.4826^2 + 8) = 3.1934 %, sqrt(14.826^2 + 8) = 15.0934 %.
  CHECK(fit.send->segments[0].uncertainty == Approx(0.031934).epsilon(1e-4));
  CHECK(fit.send->segments[1].uncertainty == Approx(0.150934).epsilon(1e-4));
  CHECK(fit.receive->segments[0].uncertainty == Approx(0.031934).epsilon(1e-4));
  CHECK(fit.unexpected->segments[0].uncertainty == Approx(0.031934).epsilon(1e-4));
}

TEST_CASE("without overheads all of it is the transfer time") {
  LevelSamples samples = samples_with(0, 0);
  samples.overheads.receive.clear();  // interrupted
  Platform platform;
  add_level(platform, Level::kNode, fit_level(samples), samples.probe);
  const LevelModel& model = *platform.level(Level::kNode);
  CHECK(model.send_overhead.empty());
  CHECK(!model.unexpected_overhead);
  CHECK(model.transfer(64) == Approx(430e-9 + 64 * 0.425e-9).epsilon(0.01));
}
