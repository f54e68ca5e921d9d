#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/cost/collective_model.h"
#include "models/cost/contention.h"
#include "models/cost/placement.h"
#include "models/cost/transfer_curve.h"

namespace rubato {

/// Who has to be where before the data of a message flows. Eager against the rest is
/// the classical eager/rendezvous switch.
enum class Protocol : uint8_t {
  kEager,  ///< nobody: it flows at once
  kAsync,  ///< both sides have posted
  kPull,   ///< and the receiver is inside MPI after that
  kPush,   ///< likewise, and then the sender
};
/// What a platform file calls them.
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
  /// o_r(n) of an eager message that comes before its receive is posted; absent = the same.
  std::optional<TransferCurve> unexpected_overhead;
  std::optional<TransferCurve>
      gap;  ///< g(n): port occupancy; absent = the part of T that grows with n
  /// g_b(n): likewise of messages that follow open ones, where it is more than g; absent = as g.
  std::optional<TransferCurve> burst_gap;
  /// x(n): how much longer a message takes whose receiver sends one like it at the same time.
  TransferCurve crossing_delay;
  std::vector<ProtocolSegment> protocols;  ///< by size; empty = eager

  Protocol protocol_at(double bytes) const;
};

/// How the numbers were obtained; written by `rubato calibrate`, kept and shown, never computed
/// with.
using Provenance = std::map<std::string, std::string>;

/// A machine as the replay sees it; the content of one platform file (models/cost/platform_file.h).
struct Platform {
  std::string name;
  std::array<std::optional<LevelModel>, kLevels> levels;
  /// Processor time in which a rank copies n bytes; absent when not known.
  std::optional<TransferCurve> copy;
  /// Bandwidth at which a reduction combines two operands; infinite when not known.
  std::optional<double> reduction_bandwidth;
  CollectiveModel collectives;
  ContentionModel contention;
  Provenance measured;

  const std::optional<LevelModel>& level(Level l) const { return levels[static_cast<int>(l)]; }
  /// What stands for a level that is not there: node for socket, and then `fallback`.
  const std::optional<LevelModel>& priced_by(Level l, std::optional<Level> fallback) const {
    if (!level(l) && l == Level::kSocket) l = Level::kNode;
    return level(l) || !fallback ? level(l) : priced_by(*fallback, {});
  }
  /// Its contention; where sockets are not told from nodes, what counts for one counts for both.
  ContentionModel contended() const {
    constexpr auto socket = static_cast<size_t>(Level::kSocket);
    constexpr auto node = static_cast<size_t>(Level::kNode);
    ContentionModel model = contention;
    if (!levels[socket]) {
      const bool either = model.levels[socket] || model.levels[node];
      model.levels[socket] = model.levels[node] = either;
    }
    return model;
  }
  std::optional<LevelModel>& level(Level l) { return levels[static_cast<int>(l)]; }
};

}  // namespace rubato
