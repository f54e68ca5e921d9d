#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/collective/collective_model.h"
#include "models/network/network_model.h"
#include "models/placement/placement.h"
#include "models/platform/transfer_curve.h"

namespace rubato {

/// The condition for the data of a message to flow. All but eager are rendezvous protocols.
enum class Protocol : uint8_t {
  kEager,  ///< none: it flows at once
  kAsync,  ///< both sides have posted
  kPull,   ///< as async, then the receiver is inside MPI
  kPush,   ///< as pull, then the sender is inside MPI
};
/// Names in platform files.
inline constexpr std::array<const char*, 4> kProtocolNames = {"eager", "async", "pull", "push"};

/// The protocol in force from `from` bytes up to the next entry.
struct ProtocolSegment {
  double from = 0;
  Protocol protocol = Protocol::kEager;
};

/// Message costs between two ranks of one level. Seconds over bytes.
struct LevelModel {
  TransferCurve transfer;          ///< T(n): one way, without the overheads
  TransferCurve send_overhead;     ///< o_s(n): CPU time at the sender
  TransferCurve receive_overhead;  ///< o_r(n): CPU time at the receiver
  /// o_r(n) of an eager message that arrives before its receive is posted; absent = the same.
  std::optional<TransferCurve> unexpected_overhead;
  /// f(n): time of either end for an eager message right behind another one, in a stream; an upper
  /// bound of o_s and o_r there. Absent = no bound.
  std::optional<TransferCurve> following_overhead;
  /// The level before a scenario changed its bandwidth or overheads: whether f exceeds the time of
  /// ends and port is a property of the measured machine. Null: nothing was changed.
  std::shared_ptr<const LevelModel> as_given = nullptr;
  std::optional<TransferCurve>
      gap;  ///< g(n): port occupancy; absent = the part of T that grows with n
  /// g_b(n): gap of a message that follows an open one, if it exceeds g; absent = as g.
  std::optional<TransferCurve> burst_gap;
  /// g_2(n): likewise of the first message that follows an open one; absent = as g_b.
  std::optional<TransferCurve> second_burst_gap;
  /// x(n): extra time of a message whose receiver sends one like it at the same time.
  TransferCurve crossing_delay;
  /// y(n): receiver's time for an eager synchronous message beyond o_r, before it answers the
  /// sender.
  TransferCurve synchronous_overhead;
  std::vector<ProtocolSegment> protocols;  ///< by size; empty = eager

  Protocol protocol_at(double bytes) const;
  /// One-way trips of latency inside T(n): of a handshake request, answer and data.
  int trips(double bytes) const { return protocol_at(bytes) == Protocol::kEager ? 1 : 3; }
};

/// How the numbers were obtained; written by `rubato calibrate`, kept and shown, never used in
/// computations.
using Provenance = std::map<std::string, std::string>;

struct MessageCost;  // message_cost.h

/// A machine as the replay sees it; the content of one platform file
/// (models/platform/platform_file.h).
struct Platform {
  std::string name;
  std::array<std::optional<LevelModel>, kLevels> levels;
  /// Processor time to copy n bytes within a rank; absent when not known.
  std::optional<TransferCurve> copy;
  /// Processor time to pack, or to unpack, a block of n bytes of data with holes, beyond contiguous
  /// data; absent when not known.
  std::optional<TransferCurve> packing;
  /// Bandwidth at which a reduction combines two operands; infinite when not known.
  std::optional<double> reduction_bandwidth;
  CollectiveModel collectives;
  ContentionSetting contention;
  /// A model of messages that curves cannot express, of programs built on the library: changes the
  /// terms of a message of `bytes` at this level from those of the curves, but not its protocol.
  /// Pure; scenarios that scale curves do not scale what it adds. Empty: none.
  std::function<void(Level level, double bytes, MessageCost& cost)> message_model;
  /// Relative standard error of message costs, for effects not modelled; unset: kModelError.
  std::optional<double> model_error;
  std::string grade;  ///< faults of the calibration, for reports; empty: none
  Provenance measured;

  const std::optional<LevelModel>& level(Level l) const { return levels[static_cast<int>(l)]; }
  /// The level whose model prices messages of level `l`: itself, or the next wider one that the
  /// platform has. A narrower level is never used, as it would underestimate costs. kNetwork if
  /// there is none.
  Level priced_as(Level l) const {
    auto at = static_cast<int>(l);
    while (at + 1 < kLevels && !levels[at]) ++at;
    return static_cast<Level>(at);
  }
  const std::optional<LevelModel>& priced_by(Level l) const { return level(priced_as(l)); }
  /// Its contention; without a level socket, socket and node share one setting.
  ContentionSetting contended() const {
    constexpr auto socket = static_cast<size_t>(Level::kSocket);
    constexpr auto node = static_cast<size_t>(Level::kNode);
    ContentionSetting setting = contention;
    if (!levels[socket]) {
      const bool either = setting.levels[socket] || setting.levels[node];
      setting.levels[socket] = setting.levels[node] = either;
    }
    return setting;
  }
  std::optional<LevelModel>& level(Level l) { return levels[static_cast<int>(l)]; }
};

}  // namespace rubato
