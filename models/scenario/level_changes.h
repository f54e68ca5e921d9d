#pragma once

#include <functional>

#include "models/platform/platform.h"

namespace rubato {

/// Adds so many seconds to each one-way trip, three of them in a handshake. Below zero no message
/// gets.
void add_latency(LevelModel& level, double seconds_per_trip);

/// Replaces each slope (seconds per byte) of transfer times, gaps and crossing delays by
/// change(slope). What lies below the latency grows from the latency on.
void change_slopes(LevelModel& level, const std::function<double(double)>& change);

/// Multiplies the processor time of senders and receivers.
void scale_overheads(LevelModel& level, double factor);

}  // namespace rubato
