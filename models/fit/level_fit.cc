// From the times of messages between two ranks to the model of their level:
//
//   T(n)   half a ping-pong round trip, less the processors' part (overheads.cc).
//   g(n)   half a round trip of k messages at once takes (k-1) g + T'(n) when ports are busy for g
//          per message, T' being T with nonblocking calls; with k = 1 it takes T'(n). So g =
//          (burst_k - burst_1) / (k - 1). A port is busy for no longer than a message takes,
//          crossing or not: ranks that exchange messages continuously have one message per such
//          time. So g is at most T + x, and at most the time per message of a stream.
//   g_b(n) time of each further message of a burst, if that is more: bursts overflow caches, or the
//          library's memory for messages, and exchanges do not. It is used as measured, without the
//          scaling below: it depends more on the memory than on the processors. (With eight
//          messages of 128 KiB under MPICH each further one took 21.1 and 20.1 us in two launches
//          whose ping-pongs took 10.6 and 18.1 us.)
//   g_2(n) burst_2 - burst_1, if g_b would change the time of a burst of two by a tenth or more.
//   Then
//          g_b is (burst_k - burst_2) / (k - 2). The more messages are under way, the more a cache
//          overflows: with eight messages of 1 MiB under MPICH each further one took 419 us, with
//          two 145 us. If g_2 is less than g, g is reduced to it.
//   x(n)   an exchange of one message in each direction at the same time takes T'(n) + x, so x =
//          exchange - burst_1: with the same calls, so that nothing but crossing is in it. Two
//          processors may share a core for some seconds, which changes the speed of the machine, so
//          T, g and x might belong to different speeds. Their samples are measured in turn with a
//          ping-pong, and scaled by its time.
//   y(n)   a ping-pong of synchronous sends takes T + y one way if standard ones are eager: the
//          answer to the sender overlaps with the next message.
//   o_s, o_r change their slopes where T(n) does, and at the limit, so that none of the three has
//          more segments than the one-way time may have.
//   f(n)   time of an end for an eager message right behind another one. o_s and o_r are timed when
//   an
//          end has just computed, for a message that comes alone, as in a ping-pong. In a stream of
//          blocking calls, or else a burst, the next message is on its way meanwhile: a receive of
//          8 bytes in Open MPI's shared memory takes 264 ns alone, but 126 ns in a stream. Omitted
//          if o_s and o_r are no more than that and explain all of it.
//   limit  a send that returns well before its receive is posted was eager. Above the limit,
//          progress while the ends compute shows which ends have to be inside MPI (protocol_fit.h).
#include "models/fit/level_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/base/number_text.h"
#include "models/base/units.h"

namespace rubato {
namespace {

// Share of the time of a message alone; smaller differences of two minima are not significant.
constexpr double kLeastCrossing = 0.01;
// Delays are small compared to the time to which they are added: a tenth of them is a few per cent.
constexpr double kCrossingNoise = 0.1;
// Two runs of mpirun differ by more than two halves of one run: the limit of reproducibility.
constexpr double kLeastNoise = 0.01;
// Even on a busy machine the curve follows its samples: a fit that explains a step of 50 % as noise
// is worse than noisy samples.
constexpr double kMostNoise = 0.03;
constexpr double kLeastGap = 1e-9;  // seconds; the resolution of the difference of two loops
// Bursts count as longer than the gaps if they are by more than a tenth and twice their error.
constexpr double kNoticeable = 0.1;
constexpr double kErrors = 2;
constexpr size_t kLeastLengths = 3;

double noise_of(const std::vector<TimedLength>& timings) {
  return std::clamp(repeatability(timings), kLeastNoise, kMostNoise);
}

/// The curve of the one-way time in at most `most` segments.
std::optional<SegmentedFit> fit_transfer(const std::vector<TimedLength>& timings, int most) {
  if (timings.size() < kLeastLengths) return std::nullopt;
  std::vector<FitSample> samples;
  for (const TimedLength& timing : timings) {
    samples.push_back({timing.bytes, timing.seconds, static_cast<double>(timing.launches)});
  }
  FitOptions options;
  options.noise = noise_of(timings);
  options.max_segments = most;
  return fit_segments(std::move(samples), options);
}

/// The begins of segments of the one-way time and its parts, including the eager limit.
std::vector<double> borders_of(const SegmentedFit& transfer, std::optional<double> waiting) {
  std::set<double> borders;
  for (const Segment& segment : transfer.segments) borders.insert(segment.from);
  if (waiting) borders.insert(*waiting);
  borders.erase(0);
  return {borders.begin(), borders.end()};
}

TimedLength times(double factor, TimedLength timing) {
  timing.seconds *= factor;
  for (double& half : timing.half) half *= factor;
  return timing;
}

/// The time that each of `further` messages adds to one of the same length, at most `most` seconds.
/// A small result is the difference of two long times: an error of one per cent of these is many
/// per cent of the result.
TimedLength per_further_message(const TimedLength& all, const TimedLength& one, double further,
                                double most) {
  TimedLength each{all.bytes, 1, 0, {0, 0}, all.launches};
  each.seconds = std::clamp((all.seconds - one.seconds) / further, kLeastGap, most);
  each.launch_error =
      std::hypot(relative_error(all) * all.seconds, relative_error(one) * one.seconds) / further /
      each.seconds;
  if (all.half[0] > 0 && all.half[1] > 0 && one.half[0] > 0 && one.half[1] > 0) {
    // Halves of a small difference may be negative. Only their distance matters.
    const double first = all.half[0] - one.half[0], second = all.half[1] - one.half[1];
    each.half[0] = each.seconds;
    each.half[1] = each.seconds + std::abs(first - second) / further;
  }
  return each;
}

/// The single messages that bursts and exchanges of a length are compared with.
class Alone {
 public:
  Alone(const LevelSamples& level, const SegmentedFit& transfer) : transfer_(transfer) {
    for (const TimedLength& timing : level.single) single_[timing.bytes] = &timing;
    for (const TimedLength& timing : level.pingpong_beside) beside_[timing.bytes] = timing.seconds;
  }
  /// One message with the same calls; nullptr if none was measured.
  const TimedLength* single(double bytes) const {
    const auto found = single_.find(bytes);
    return found == single_.end() ? nullptr : found->second;
  }
  /// Ratio of the one-way time to the one measured in turn with them: 1 on a machine with constant
  /// speed.
  double speed(double bytes) const {
    const auto found = beside_.find(bytes);
    const double one_way = transfer_(bytes);
    return found == beside_.end() || one_way <= 0 ? 1 : one_way / found->second;
  }
  /// The same without the scaling by speed.
  Alone at_any_speed() const {
    Alone same = *this;
    same.beside_.clear();
    return same;
  }

 private:
  const SegmentedFit& transfer_;
  std::map<double, const TimedLength*> single_;
  std::map<double, double> beside_;
};

/// Time of each further message, by length: `series` was measured with `further(timing)` messages
/// beside the first. `most(bytes)` is an upper bound.
template <typename Further, typename Most>
std::vector<TimedLength> differences(const Alone& alone, const std::vector<TimedLength>& series,
                                     Further further, Most most) {
  std::vector<TimedLength> found;
  for (const TimedLength& timing : series) {
    const TimedLength* single = alone.single(timing.bytes);
    if (!single || further(timing) < 1) continue;
    const double speed = alone.speed(timing.bytes);
    found.push_back(per_further_message(times(speed, timing), times(speed, *single),
                                        further(timing), most(timing.bytes)));
  }
  return found;
}

std::optional<SegmentedFit> fit_lengths(const std::vector<TimedLength>& timings, double noise,
                                        int max_segments) {
  if (timings.size() < kLeastLengths) return std::nullopt;
  std::vector<FitSample> samples;
  for (const TimedLength& timing : timings)
    samples.push_back({timing.bytes, timing.seconds, static_cast<double>(timing.launches)});
  FitOptions options;
  options.noise = noise;
  options.max_segments = max_segments;
  SegmentedFit fit = fit_segments(std::move(samples), options);
  add_reproducibility(fit, timings);
  return fit;
}

/// Raises the time to `least`; the difference between launches stays.
void raise_to(TimedLength& timing, double least) {
  if (timing.seconds >= least) return;
  timing.launch_error *= timing.seconds / least;
  timing.seconds = least;
}

/// Extra time of a message when a similar one goes the other way, at most its own time again.
/// Absent if few lengths were measured, or if it is zero at all of them.
std::optional<SegmentedFit> fit_crossing_delay(const LevelSamples& level,
                                               const SegmentedFit& transfer, int max_segments) {
  const auto most = [&](double n) { return std::max(2 * kLeastGap, transfer(n)); };
  std::vector<TimedLength> delays = differences(
      Alone(level, transfer), level.exchange, [](const TimedLength&) { return 1; }, most);
  bool some_take_longer = false;
  for (TimedLength& delay : delays) {
    const double least = kLeastCrossing * most(delay.bytes);
    some_take_longer |= delay.seconds > least;
    raise_to(delay, least);
  }
  if (!some_take_longer) return std::nullopt;
  return fit_lengths(delays, kCrossingNoise, max_segments);
}

/// Extra time of an eager message in synchronous mode. Absent if few lengths were measured, or if
/// it is zero at all of them.
std::optional<SegmentedFit> fit_synchronous(const LevelSamples& level, const SegmentedFit& transfer,
                                            int max_segments) {
  LevelSamples in_turn;
  in_turn.single = in_turn.pingpong_beside = level.synchronous_beside;
  std::vector<TimedLength> excess = differences(
      Alone(in_turn, transfer), level.synchronous, [](const TimedLength&) { return 1; },
      [](double) { return HUGE_VAL; });
  const double waiting = level.probe.waiting.value_or(HUGE_VAL);
  std::erase_if(excess, [&](const TimedLength& timing) { return timing.bytes >= waiting; });
  bool some_take_longer = false;
  for (TimedLength& timing : excess) {
    const double least = std::max(kLeastGap, kLeastCrossing * transfer(timing.bytes));
    some_take_longer |= timing.seconds > least;
    raise_to(timing, least);
  }
  if (!some_take_longer) return std::nullopt;
  return fit_lengths(excess, kCrossingNoise, max_segments);
}

/// Seconds per message of a stream, without the transfers of the first message and the answer.
std::vector<TimedLength> per_streamed_message(const std::vector<TimedLength>& streams,
                                              const SegmentedFit& transfer) {
  std::vector<TimedLength> each;
  for (const TimedLength& stream : streams) {
    if (stream.messages < 2) continue;
    const double all = stream.seconds - transfer(stream.bytes) - transfer(0);
    const double one = std::max(kLeastGap, all / (stream.messages - 1));
    each.push_back(times(one / stream.seconds, stream));
  }
  return each;
}

const TimedLength* find(const std::vector<TimedLength>& timings, double bytes) {
  for (const TimedLength& timing : timings) {
    if (timing.bytes == bytes) return &timing;
  }
  return nullptr;
}

/// `each`: the time of each message of a burst behind the first. At lengths at which that would
/// noticeably change the time of a burst of two, replaces it by the time of each message behind the
/// second. Returns the time of the second message, at the same lengths; empty if `each` is right
/// for all of them. `speeds`: the factors with which `each` was measured.
std::vector<TimedLength> take_out_seconds(const LevelSamples& level,
                                          const std::vector<double>& speeds,
                                          std::vector<TimedLength>& each) {
  std::vector<TimedLength> seconds = each;
  bool some_differ = false;
  for (size_t i = 0; i < each.size(); ++i) {
    const double bytes = each[i].bytes;
    const TimedLength* all = find(level.burst, bytes);
    const TimedLength* two = find(level.two, bytes);
    const TimedLength* one = find(level.single, bytes);
    if (!two || all->messages <= 2) continue;
    const TimedLength pair = times(speeds[i], *two);
    const TimedLength second = per_further_message(pair, times(speeds[i], *one), 1, HUGE_VAL);
    const double error = std::hypot(relative_error(second) * second.seconds,
                                    relative_error(each[i]) * each[i].seconds);
    const double off = std::abs(each[i].seconds - second.seconds);
    if (off <= std::max(kNoticeable * pair.seconds, kErrors * error)) continue;
    seconds[i] = second;
    each[i] = per_further_message(times(speeds[i], *all), pair, all->messages - 2, HUGE_VAL);
    some_differ = true;
  }
  if (!some_differ) seconds.clear();
  return seconds;
}

/// The gaps of the messages of bursts behind the first.
void fit_gaps(const LevelSamples& level, int max_segments, LevelFit& fit) {
  // An interrupted run may lack lengths in any series.
  if (level.single.size() < level.burst.size()) return;
  const auto further = [](const TimedLength& burst) { return burst.messages - 1; };
  // Differences of two minima; the half of their noise that is common to all lengths is unknown.
  const double noise = 2 * noise_of(level.burst);
  const std::vector<TimedLength> streams = per_streamed_message(level.stream, *fit.transfer);
  const auto stream = fit_lengths(streams, noise_of(streams), max_segments);
  // The curve of a disturbed run may be 0 at the begin of a segment.
  const auto most = [&](double n) {
    const double crossing =
        (*fit.transfer)(n) + (fit.crossing_delay ? (*fit.crossing_delay)(n) : 0);
    const bool streamed = stream && n <= streams.back().bytes;
    return std::max(kLeastGap, streamed ? std::min(crossing, (*stream)(n)) : crossing);
  };
  const Alone alone(level, *fit.transfer);
  std::vector<TimedLength> gaps = differences(alone, level.burst, further, most);
  if (gaps.size() < kLeastLengths) return;

  const auto any = [](double) { return HUGE_VAL; };
  std::vector<TimedLength> bursts = differences(alone, level.burst, further, any);
  const TransferCurve curve(fit_lengths(bursts, noise, max_segments)->segments);
  const auto overflows = [&](double n) {
    const double error = kErrors * curve.segment_at(n).uncertainty * curve(n);
    return curve(n) - most(n) > std::max(kNoticeable * most(n), error);
  };
  const std::vector<TimedLength> as_measured =
      differences(alone.at_any_speed(), level.burst, further, any);
  bool some_overflow = false;
  std::vector<double> speeds;
  for (size_t i = 0; i < bursts.size(); ++i) {
    const bool more = overflows(bursts[i].bytes);
    speeds.push_back(more ? 1 : alone.speed(bursts[i].bytes));
    bursts[i] = more ? as_measured[i] : gaps[i];
    some_overflow |= more;
  }
  const std::vector<TimedLength> seconds = take_out_seconds(level, speeds, bursts);
  // If the port is free for the second message of a burst, it is free for any message behind
  // another.
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i].seconds < gaps[i].seconds) gaps[i] = seconds[i];
  }
  fit.gap = fit_lengths(gaps, noise, max_segments);
  if (some_overflow || !seconds.empty()) fit.burst_gap = fit_lengths(bursts, noise, max_segments);
  if (!seconds.empty()) fit.second_burst_gap = fit_lengths(seconds, noise, max_segments);
}

/// "2.1%, 0.8% from 4KiB on": one-way time; between changes of the protocol the largest of all
/// segments.
std::string uncertainties(const SegmentedFit& one_way,
                          const std::vector<ProtocolSegment>& protocols) {
  std::string text;
  for (size_t i = 0; i < std::max<size_t>(1, protocols.size()); ++i) {
    const double low = i < protocols.size() ? protocols[i].from : 0;
    const double high = i + 1 < protocols.size() ? protocols[i + 1].from : HUGE_VAL;
    double most = 0;
    for (size_t k = 0; k < one_way.segments.size(); ++k) {
      const Segment& segment = one_way.segments[k];
      const bool last = k + 1 == one_way.segments.size();
      const double end = last ? HUGE_VAL : one_way.segments[k + 1].from;
      if (segment.from < high && end > low) most = std::max(most, segment.uncertainty);
    }
    text += (i > 0 ? ", " : "") + fixed_text(100 * most, 1) + "%";
    if (i > 0) text += " from " + format_bytes(low) + " on";
  }
  return text;
}

/// One bandwidth, and its range, for all lengths but the shortest, which take hardly any time.
void add_combination(Platform& platform, const SegmentedFit& fit) {
  constexpr double kShort = 4096;
  std::vector<double> bandwidths;
  for (const FitSample& sample : fit.samples) {
    if (sample.bytes >= kShort) bandwidths.push_back(sample.bytes / sample.seconds);
  }
  if (bandwidths.empty()) return;
  platform.reduction_bandwidth = median(bandwidths);
  const auto [least, most] = std::minmax_element(bandwidths.begin(), bandwidths.end());
  platform.measured["reduction_bandwidth"] = "median of lengths from " + format_bytes(kShort) +
                                             " on, of " + brief_bandwidth(*least) + " to " +
                                             brief_bandwidth(*most);
}

/// Time of an end for an eager message right behind another one: from a stream if there was one,
/// else from bursts. Like overheads it is used as measured, without scaling by speed. Absent if few
/// lengths were measured, or if overheads and gap explain it.
std::optional<SegmentedFit> fit_following(const LevelSamples& level, const LevelFit& fit,
                                          int max_segments) {
  std::vector<TimedLength> following = per_streamed_message(level.stream, *fit.transfer);
  const double streamed = following.empty() ? -1 : following.back().bytes;
  if (level.single.size() >= level.burst.size()) {
    const auto further = [](const TimedLength& burst) { return burst.messages - 1; };
    const auto most = [&](double n) { return std::max(kLeastGap, (*fit.transfer)(n)); };
    for (const TimedLength& each :
         differences(Alone(level, *fit.transfer).at_any_speed(), level.burst, further, most)) {
      if (each.bytes > streamed) following.push_back(each);
    }
  }
  const double waiting = level.probe.waiting.value_or(HUGE_VAL);
  std::erase_if(following, [&](const TimedLength& timing) { return timing.bytes >= waiting; });
  const auto curve = fit_lengths(following, 2 * noise_of(level.burst), max_segments);
  if (!curve || !fit.overheads.send || !fit.overheads.receive) return std::nullopt;
  for (const TimedLength& timing : following) {
    const double n = timing.bytes, f = (*curve)(n);
    double alone = std::max((*fit.overheads.send)(n), (*fit.overheads.receive)(n));
    if (fit.overheads.unexpected) alone = std::max(alone, (*fit.overheads.unexpected)(n));
    const double explained = std::max(alone, fit.gap ? (*fit.gap)(n) : 0);
    if (f < (1 - kNoticeable) * alone || f > (1 + kNoticeable) * explained) return curve;
  }
  return std::nullopt;
}

OneWayParts parts_of(const SegmentedFit& one_way, const OverheadFit& overheads) {
  if (!overheads.send || !overheads.receive) return {{}, one_way.segments, {}};
  return take_apart(one_way, *overheads.send, *overheads.receive);
}

}  // namespace

std::vector<TimedLength>* LevelSamples::series(const std::string& pattern) {
  if (pattern == "pingpong" || pattern == "sendrecv") return &transfer;
  if (pattern == "burst") return &burst;
  if (pattern == "burst_of_two") return &two;
  if (pattern == "single") return &single;
  if (pattern == "stream") return &stream;
  if (pattern == "exchange") return &exchange;
  if (pattern == "beside") return &pingpong_beside;
  if (pattern == "synchronous") return &synchronous;
  if (pattern == "synchronous_beside") return &synchronous_beside;
  if (pattern == "copy") return &copies;
  if (pattern == "copy_cold") return &cold_copies;
  if (pattern == "combine") return &combinations;
  if (pattern == "pack") return &packs;
  if (pattern == "send_overhead") return &overheads.send;
  if (pattern == "receive_overhead") return &overheads.receive;
  if (pattern == "unexpected_overhead") return &overheads.unexpected;
  if (pattern == "sender_computes") return &overlap.sender_computes;
  if (pattern == "both_compute") return &overlap.both_compute;
  return nullptr;
}

std::span<const FittedCurve> fitted_curves() {
  using Curve = const std::optional<SegmentedFit>&;
  static constexpr FittedCurve kCurves[] = {
      {"Transfer, one way", "one way", [](const LevelFit& fit) -> Curve { return fit.transfer; }},
      {"Gap", "gap", [](const LevelFit& fit) -> Curve { return fit.gap; }},
      {"Burst gap", "burst gap", [](const LevelFit& fit) -> Curve { return fit.burst_gap; }},
      {"Burst gap of the second message", "second of a burst",
       [](const LevelFit& fit) -> Curve { return fit.second_burst_gap; }},
      {"Crossing delay", "crossing delay",
       [](const LevelFit& fit) -> Curve { return fit.crossing_delay; }},
      {"Send overhead", "sending", [](const LevelFit& fit) -> Curve { return fit.overheads.send; }},
      {"Receive overhead", "receiving",
       [](const LevelFit& fit) -> Curve { return fit.overheads.receive; }},
      {"Receive overhead of unexpected messages", "unexpected",
       [](const LevelFit& fit) -> Curve { return fit.overheads.unexpected; }},
      {"Overhead right behind another message", "right behind another",
       [](const LevelFit& fit) -> Curve { return fit.following; }},
      {"Synchronous overhead", "synchronous overhead",
       [](const LevelFit& fit) -> Curve { return fit.synchronous; }},
      {"Copy within a rank, in its cache", nullptr,
       [](const LevelFit& fit) -> Curve { return fit.copy; }},
      {"Copy within a rank, in memory", nullptr,
       [](const LevelFit& fit) -> Curve { return fit.cold_copy; }},
      {"Combining two operands of a reduction", nullptr,
       [](const LevelFit& fit) -> Curve { return fit.combination; }},
      {"Packing a block of data with holes", nullptr,
       [](const LevelFit& fit) -> Curve { return fit.packing; }},
  };
  return kCurves;
}

LevelFit fit_level(const LevelSamples& samples, int max_segments) {
  LevelFit fit;
  fit.transfer = fit_transfer(samples.transfer, max_segments);
  if (samples.probe.waiting) {
    fit.protocols = find_protocols(*samples.probe.waiting, samples.overlap, samples.transfer,
                                   samples.overheads.receive);
  }
  if (fit.transfer) {
    const std::optional<double> waiting = samples.probe.waiting;
    const auto limit = static_cast<size_t>(max_segments);
    if (max_segments > 1 && borders_of(*fit.transfer, waiting).size() >= limit)
      fit.transfer = fit_transfer(samples.transfer, max_segments - 1);
    add_reproducibility(*fit.transfer, samples.transfer);
    fit.crossing_delay = fit_crossing_delay(samples, *fit.transfer, max_segments);
    fit.synchronous = fit_synchronous(samples, *fit.transfer, max_segments);
    fit_gaps(samples, max_segments, fit);
    fit.overheads = fit_overheads(samples.overheads, waiting,
                                  {max_segments, borders_of(*fit.transfer, waiting)});
    fit.following = fit_following(samples, fit, max_segments);
    fit.parts = parts_of(*fit.transfer, fit.overheads);
    fit.copy = fit_lengths(samples.copies, noise_of(samples.copies), max_segments);
    fit.cold_copy = fit_lengths(samples.cold_copies, noise_of(samples.cold_copies), max_segments);
    fit.combination =
        fit_lengths(samples.combinations, noise_of(samples.combinations), max_segments);
    fit.packing = fit_lengths(samples.packs, noise_of(samples.packs), max_segments);
  }
  fit.repeatable_within = repeatability(samples.transfer);
  return fit;
}

void add_level(Platform& platform, Level level, const LevelFit& fit, const ProtocolProbe& probe) {
  if (!fit.transfer) return;
  LevelModel model;
  model.transfer = TransferCurve(fit.parts.transfer);
  model.send_overhead = TransferCurve(fit.parts.send);
  model.receive_overhead = TransferCurve(fit.parts.receive);
  if (fit.overheads.unexpected && !model.receive_overhead.empty()) {
    model.unexpected_overhead = TransferCurve(fit.overheads.unexpected->segments);
  }
  if (fit.following && !model.receive_overhead.empty())
    model.following_overhead = TransferCurve(fit.following->segments);
  if (fit.gap) model.gap = TransferCurve(fit.gap->segments);
  if (fit.burst_gap) model.burst_gap = TransferCurve(fit.burst_gap->segments);
  if (fit.second_burst_gap) model.second_burst_gap = TransferCurve(fit.second_burst_gap->segments);
  if (fit.crossing_delay) model.crossing_delay = TransferCurve(fit.crossing_delay->segments);
  if (fit.synchronous) model.synchronous_overhead = TransferCurve(fit.synchronous->segments);
  if (fit.copy) platform.copy = TransferCurve(fit.copy->segments);
  if (fit.packing) platform.packing = TransferCurve(fit.packing->segments);
  if (fit.combination) add_combination(platform, *fit.combination);
  if (probe.eager) model.protocols.push_back({0, Protocol::kEager});
  if (probe.waiting && !fit.protocols.empty()) {
    model.protocols.insert(model.protocols.end(), fit.protocols.begin(), fit.protocols.end());
    if (!probe.eager) model.protocols.front().from = 0;
  } else if (probe.waiting) {
    model.protocols.push_back({probe.eager ? *probe.waiting : 0, Protocol::kAsync});
  }
  const std::string name = kLevelNames[static_cast<int>(level)];
  platform.measured[name + "_one_way_uncertainty"] = uncertainties(*fit.transfer, model.protocols);
  platform.level(level) = std::move(model);
  platform.measured[name + "_halves_differ_by"] = fixed_text(100 * fit.repeatable_within, 1) + "%";
}

void choose_preset(Platform& platform) {
  const auto library = platform.measured.find("mpi");
  if (library != platform.measured.end() && library->second.starts_with("Open MPI")) {
    platform.collectives.preset = CollectivePreset::kOpenMpi;
  }
}

}  // namespace rubato
