#include "models/fit/protocol_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace rubato {
namespace {

// Upper limit of a message's time per byte, relative to the fastest one above the eager limit;
// caches and fragments explain up to that factor.
constexpr double kSlower = 2;
constexpr double kNeeded = 0.3;  // share of the message's time in the wait: that end was needed

bool is_needed(double wait, const OverlapTimes& times) {
  const double message = std::max(0.0, times.one_way - times.idle);
  return wait - times.idle > kNeeded * message;
}

std::optional<double> at(const std::vector<TimedLength>& timings, double bytes) {
  const auto found =
      std::find_if(timings.begin(), timings.end(),
                   [bytes](const TimedLength& timing) { return timing.bytes == bytes; });
  if (found == timings.end()) return std::nullopt;
  return found->seconds;
}

/// A straight line between the neighbours of `bytes`.
double between(const std::vector<TimedLength>& timings, double bytes) {
  const auto above =
      std::lower_bound(timings.begin(), timings.end(), bytes,
                       [](const TimedLength& timing, double n) { return timing.bytes < n; });
  if (above == timings.end()) return timings.back().seconds;
  if (above == timings.begin() || above->bytes == bytes) return above->seconds;
  const TimedLength& below = *(above - 1);
  const double share = (bytes - below.bytes) / (above->bytes - below.bytes);
  return below.seconds + share * (above->seconds - below.seconds);
}

}  // namespace

Protocol protocol_kind(const OverlapTimes& times) {
  if (is_needed(times.sender_computed, times)) return Protocol::kPush;
  if (is_needed(times.receiver_computed, times)) return Protocol::kPull;
  return is_needed(times.both_computed, times) ? Protocol::kPull : Protocol::kAsync;
}

bool counts_by_median(const std::string& pattern, double bytes, std::optional<double> waiting) {
  if (pattern == "sender_computes" || pattern == "both_compute") return true;
  return pattern == "receive_overhead" && waiting && bytes >= *waiting;
}

std::vector<ProtocolSegment> find_protocols(double waiting, const OverlapSamples& samples,
                                            const std::vector<TimedLength>& one_way,
                                            const std::vector<TimedLength>& receiver_computes) {
  std::vector<std::pair<double, Protocol>> kinds;
  if (one_way.empty() || receiver_computes.empty()) return {};
  // On a busy machine a long message is always disturbed, short ones are not.
  double least_per_byte = HUGE_VAL;
  for (const TimedLength& length : one_way) {
    if (length.bytes >= waiting && length.bytes > 0)
      least_per_byte = std::min(least_per_byte, length.seconds / length.bytes);
  }
  for (const TimedLength& sender : samples.sender_computes) {
    const auto receiver = at(receiver_computes, sender.bytes);
    const auto both = at(samples.both_compute, sender.bytes);
    if (sender.bytes < waiting || !receiver || !both) continue;
    const double empty = receiver_computes.front().seconds;
    const double longest = kSlower * (one_way.front().seconds + sender.bytes * least_per_byte);
    const OverlapTimes times = {std::min(between(one_way, sender.bytes), longest), empty, *receiver,
                                sender.seconds, *both};
    kinds.emplace_back(sender.bytes, protocol_kind(times));
  }
  for (size_t i = 1; i + 1 < kinds.size(); ++i) {
    if (kinds[i - 1].second == kinds[i + 1].second) kinds[i].second = kinds[i - 1].second;
  }
  const size_t count = kinds.size();
  if (count >= 2) kinds[count - 1].second = kinds[count - 2].second;
  std::vector<ProtocolSegment> segments;
  for (const auto& [bytes, kind] : kinds) {
    if (!segments.empty() && segments.back().protocol == kind) continue;
    segments.push_back({segments.empty() ? waiting : bytes, kind});
  }
  return segments;
}

}  // namespace rubato
