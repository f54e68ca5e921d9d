#pragma once

#include <functional>

#include "models/platform/platform.h"

namespace rubato {

/// Adds seconds to each one-way trip, three of them in a handshake. Times do not become negative.
void add_latency(LevelModel& level, double seconds_per_trip);

/// Replaces each slope (seconds per byte) of transfer times, gaps and crossing delays by
/// change(slope). In a segment with an intercept below the latency only the part above it changes.
void change_slopes(LevelModel& level, const std::function<double(double)>& change);

/// Multiplies the processor time of senders and receivers.
void scale_overheads(LevelModel& level, double factor);

}  // namespace rubato
