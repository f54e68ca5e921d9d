#include "models/platform/loggps.h"

#include <cmath>
#include <vector>

#include "models/base/error.h"
#include "models/base/units.h"

namespace rubato {
namespace {

double time_of(const std::string& value) {
  const double seconds = parse_seconds(value);
  if (seconds < 0) throw InputError("'" + value + "': a time must not be negative");
  return seconds;
}

/// `first` for an empty message and one of a byte; each further byte takes `per_byte`.
std::vector<Segment> from_first_byte(double first, double per_byte) {
  return {{0, first, 0, 0}, {1, first - per_byte, per_byte, 0}};
}

}  // namespace

bool LogGps::set(const std::string& name, const std::string& value) {
  if (name == "L") {
    latency = time_of(value);
  } else if (name == "o") {
    overhead = time_of(value);
  } else if (name == "g") {
    gap = time_of(value);
  } else if (name == "G") {
    per_byte = time_of(value);
  } else if (name == "S") {
    synchronous_above = parse_bytes(value);
  } else {
    return false;
  }
  return true;
}

Platform loggps_platform(const LogGps& machine) {
  LevelModel level;
  std::vector<Segment> transfer = from_first_byte(machine.latency, machine.per_byte);
  if (std::isfinite(machine.synchronous_above)) {
    const double from = std::floor(machine.synchronous_above) + 1;
    const double handshake = 2 * (machine.latency + 2 * machine.overhead);
    if (from == 1) transfer.pop_back();
    transfer.push_back({from, machine.latency + handshake - machine.per_byte, machine.per_byte, 0});
    level.protocols = {{0, Protocol::kEager}, {from, Protocol::kAsync}};
  }
  level.transfer = TransferCurve(std::move(transfer));
  level.send_overhead = level.receive_overhead = TransferCurve({{0, machine.overhead, 0, 0}});
  level.gap = TransferCurve(from_first_byte(machine.gap, machine.per_byte));
  Platform platform;
  platform.name = "loggps";
  platform.levels.fill(level);
  platform.level(Level::kSocket).reset();  // priced as node
  return platform;
}

}  // namespace rubato
