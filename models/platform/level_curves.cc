#include "models/platform/level_curves.h"

namespace rubato {
namespace {

template <TransferCurve LevelModel::*kMember>
const TransferCurve* find(const LevelModel& level) {
  return (level.*kMember).empty() ? nullptr : &(level.*kMember);
}
template <std::optional<TransferCurve> LevelModel::*kMember>
const TransferCurve* find(const LevelModel& level) {
  return level.*kMember ? &*(level.*kMember) : nullptr;
}
template <TransferCurve LevelModel::*kMember>
TransferCurve& make(LevelModel& level) {
  return level.*kMember;
}
template <std::optional<TransferCurve> LevelModel::*kMember>
TransferCurve& make(LevelModel& level) {
  if (!(level.*kMember)) (level.*kMember).emplace();
  return *(level.*kMember);
}

constexpr char kOneWay[] =
    "One way, without overheads: latency + n / bandwidth, from the given size up; with\n"
    "# `time`, that of the given size, and the bytes beyond / bandwidth.";
constexpr char kEnds[] =
    "Processor time at the two ends; unexpected: the message was there before its receive.";
constexpr char kTakes[] = "a message takes ";
constexpr char kOccupies[] = "a message occupies its port for ";

/// A row of a member of LevelModel.
template <auto kMember>
constexpr LevelCurve row(const char* key, const char* symbol, const char* help, ScaledBy scaled_by,
                         const char* comment, const char* may_not_fall = nullptr) {
  return {key, symbol, help, comment, scaled_by, may_not_fall, false, find<kMember>, make<kMember>};
}
constexpr LevelCurve bounded(LevelCurve curve) {
  curve.is_as_certain_as_transfer = true;
  return curve;
}

using enum ScaledBy;
constexpr LevelCurve kCurves[] = {
    row<&LevelModel::transfer>("transfer", "T",
                               "one-way time by size: segments of latency, bandwidth", kBandwidth,
                               kOneWay),
    bounded(row<&LevelModel::send_overhead>("send_overhead", "o_s", "processor time of the sender",
                                            kOverhead, kEnds)),
    bounded(row<&LevelModel::receive_overhead>("receive_overhead", "o_r",
                                               "processor time of the receiver", kOverhead, kEnds)),
    bounded(row<&LevelModel::unexpected_overhead>(
        "unexpected_overhead", "o_r'", "o_r of a message that arrives before its receive",
        kOverhead, "")),
    bounded(row<&LevelModel::following_overhead>(
        "following_overhead", "f", "upper bound of o_s, o_r right behind a message", kOverhead,
        "What an end takes, at most, for an eager message right behind another one.", kTakes)),
    row<&LevelModel::gap>("gap", "g", "how long a message occupies the port of its rank",
                          kBandwidth, "How long a message occupies the port of a rank.", kOccupies),
    row<&LevelModel::burst_gap>(
        "burst_gap", "g_b", "the same in a burst", kBandwidth,
        "Likewise of each message behind one that is not complete: in bursts.", kOccupies),
    row<&LevelModel::second_burst_gap>(
        "second_burst_gap", "g_2", "the same for the second message of a burst", kBandwidth,
        "Of the first one that does: the second of its burst.", kOccupies),
    row<&LevelModel::crossing_delay>(
        "crossing_delay", "x", "delay by a message in the opposite direction", kBandwidth,
        "How much longer a message takes whose receiver sends at the same time."),
    row<&LevelModel::synchronous_overhead>(
        "synchronous_overhead", "y", "extra receiver time of an eager MPI_Ssend", kOverhead,
        "Extra receiver time of an eager synchronous send; its sender waits for that, too."),
};

}  // namespace

std::span<const LevelCurve> level_curves() {
  return kCurves;
}

}  // namespace rubato
