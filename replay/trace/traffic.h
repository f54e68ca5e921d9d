#pragma once

// How many bytes actions move.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/trace/action.h"

namespace rubato {

/// Bytes that a call moves.
struct Traffic {
  uint64_t sent = 0;
  uint64_t received = 0;
};

/// The byte counts of an action that count as moved, as masks: used for every call, where a branch
/// by kind would often be mispredicted.
struct TrafficMasks {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t both = 0;  ///< of CollectiveAction::received, beside `sent`
};
consteval std::array<TrafficMasks, 2 * kActionKinds> traffic_masks() {
  constexpr uint64_t kAll = UINT64_MAX;
  std::array<TrafficMasks, 2 * kActionKinds> masks{};
  const auto set = [&](ActionKind kind, TrafficMasks mask) {
    masks[static_cast<size_t>(kind) * 2] = masks[static_cast<size_t>(kind) * 2 + kBlocking] = mask;
  };
  set(ActionKind::kSend, {kAll, 0, 0});
  set(ActionKind::kOneSided, {kAll, 0, 0});
  masks[static_cast<size_t>(ActionKind::kPost) * 2 + kBlocking] = {0, kAll, 0};
  set(ActionKind::kWaitReceive, {0, kAll, 0});
  set(ActionKind::kFetch, {0, kAll, 0});
  set(ActionKind::kCollective, {kAll, 0, kAll});
  set(ActionKind::kWaitCollective, {kAll, 0, kAll});
  return masks;
}
/// By kind, and whether the call itself completes it.
inline constexpr auto kTrafficMasks = traffic_masks();

// Bytes are at one offset in all kinds.
static_assert(offsetof(MessageAction, bytes) == offsetof(CollectiveAction, sent) &&
              offsetof(MessageAction, bytes) == offsetof(RequestAction, bytes) &&
              offsetof(MessageAction, bytes) == offsetof(OneSidedAction, bytes));

/// Bytes that an action moves; `mask` is that of its kind.
[[gnu::always_inline]] inline Traffic traffic_of(const Action& action, const TrafficMasks& mask) {
  const uint64_t bytes = action.message.bytes;
  return {bytes & mask.sent, (bytes & mask.received) | (action.collective.received & mask.both)};
}
/// Bytes that an action moves. Received bytes, and bytes of a started collective, are booked in the
/// call that completes the request, as in MPInside: in MPI_Wait.
[[gnu::always_inline]] inline Traffic traffic_of(const Action& action) {
  return traffic_of(
      action, kTrafficMasks[static_cast<size_t>(action.kind) * 2 + (action.flags & kBlocking)]);
}
/// What actions move.
Traffic traffic_of(std::span<const Action> actions);

}  // namespace rubato
