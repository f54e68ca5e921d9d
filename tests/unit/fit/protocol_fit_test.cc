#include "models/fit/protocol_fit.h"

#include <catch2/catch.hpp>
#include <random>

using namespace rubato;

namespace {

/// What the three probes show of a message that takes 10 us with both ends in MPI, where waiting
/// for what is there takes 0.1 us. The side that is needed waits for the data at the end: nearly
/// all of the time, less an earlier handshake.
OverlapTimes probes(bool receiver, bool sender, bool either) {
  constexpr double kData = 9e-6, kIdle = 0.1e-6;
  return {10e-6, kIdle, receiver ? kData : kIdle, sender ? kData : kIdle, either ? kData : kIdle};
}

TimedLength timed(double bytes, double seconds) {
  return {bytes, 1, seconds, {}, 1};
}

}  // namespace

TEST_CASE("the computing side reveals the protocol of a message") {
  CHECK(protocol_kind(probes(true, false, true)) == Protocol::kPull);
  CHECK(protocol_kind(probes(true, true, true)) == Protocol::kPush);
  CHECK(protocol_kind(probes(false, true, true)) == Protocol::kPush);
  CHECK(protocol_kind(probes(false, false, false)) == Protocol::kAsync);
  // One of the two suffices.
  CHECK(protocol_kind(probes(false, false, true)) == Protocol::kPull);
  // Part of the message went meanwhile (a pipeline's first pieces): 0.4 of it did not.
  OverlapTimes times = probes(true, true, true);
  times.receiver_computed = times.sender_computed = 4e-6;
  CHECK(protocol_kind(times) == Protocol::kPush);
  // 0.2 of it is the rest of a handshake, independent of ranks inside MPI.
  times.receiver_computed = times.sender_computed = times.both_computed = 2e-6;
  CHECK(protocol_kind(times) == Protocol::kAsync);
}

TEST_CASE("protocols by size from noisy probes") {
  // Eager below 4000 bytes, pull up to 60000, push from there on, as a made-up machine has it. The
  // data takes 1 us + n / 1 GB/s; a wait for what is there 0.1 us. Probes are late by up to 20 %,
  // and 12000 was disturbed altogether: 30 us in the wait of the sender, which is not needed.
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> late(1, 1.2);
    OverlapSamples samples;
    std::vector<TimedLength> one_way, receiver = {timed(0, 0.1e-6)};
    for (const double n : {4000., 6000., 8000., 12000., 16000., 24000., 32000., 48000., 64000.,
                           96000., 128000., 192000.}) {
      const double data = 1e-6 + n * 1e-9;
      const bool push = n >= 60000;
      one_way.push_back(timed(n, data));
      receiver.push_back(timed(n, data * late(random)));
      const double sender = n == 12000 ? 30e-6 : push ? data : 0.1e-6;
      samples.sender_computes.push_back(timed(n, sender * late(random)));
      samples.both_compute.push_back(timed(n, data * late(random)));
    }
    const auto segments = find_protocols(4000, samples, one_way, receiver);
    REQUIRE(segments.size() == 2);
    CHECK(segments[0].from == 4000);
    CHECK(segments[0].protocol == Protocol::kPull);
    CHECK(segments[1].from == 64000);  // the first length that shows it
    CHECK(segments[1].protocol == Protocol::kPush);
  }
}

TEST_CASE("a kind that only the longest length shows is noise, and no probes give no kinds") {
  OverlapSamples samples;
  std::vector<TimedLength> one_way, receiver = {timed(0, 0.1e-6)};
  for (const double n : {1000., 2000., 4000.}) {
    one_way.push_back(timed(n, 10e-6));
    receiver.push_back(timed(n, 9e-6));
    samples.sender_computes.push_back(timed(n, n == 4000 ? 9e-6 : 0.1e-6));
    samples.both_compute.push_back(timed(n, 9e-6));
  }
  const auto segments = find_protocols(900, samples, one_way, receiver);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].from == 900);
  CHECK(segments[0].protocol == Protocol::kPull);
  CHECK(find_protocols(900, {}, one_way, receiver).empty());
  CHECK(find_protocols(900, samples, one_way, {}).empty());
}
