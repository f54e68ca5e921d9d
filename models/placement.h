#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

/// A distance class between two ranks (design: self, node, network).
enum class Level : uint8_t { kSelf, kNode, kNetwork };
inline constexpr int kLevels = 3;
inline constexpr std::array<const char*, kLevels> kLevelNames = {"self", "node", "network"};

/// Which rank sits on which node.
class Placement {
 public:
  Placement() = default;
  explicit Placement(std::vector<int> node_of_rank) : node_of_rank_(std::move(node_of_rank)) {}

  /// Ranks 0..per_node-1 on node 0, the next per_node on node 1, and so on.
  static Placement blocks(int ranks, int per_node);
  /// Rank r on node r modulo `nodes`.
  static Placement round_robin(int ranks, int nodes);
  /// Ranks that name the same host share a node; nodes are numbered as they are first named.
  static Placement by_hosts(const std::vector<std::string>& host_of_rank);

  int ranks() const { return static_cast<int>(node_of_rank_.size()); }
  int nodes() const;
  int node_of(int rank) const { return node_of_rank_[rank]; }

  Level level(int a, int b) const {
    if (a == b) return Level::kSelf;
    return node_of_rank_[a] == node_of_rank_[b] ? Level::kNode : Level::kNetwork;
  }

 private:
  std::vector<int> node_of_rank_;
};

/// Where a scenario puts the ranks; which ranks there are is known later.
struct PlacementRule {
  enum class Kind : uint8_t { kRecorded, kBlocks, kRoundRobin, kHosts };
  Kind kind = Kind::kRecorded;
  int count = 0;                   ///< kBlocks: ranks per node; kRoundRobin: nodes
  std::vector<std::string> hosts;  ///< kHosts: by rank
  std::string file;                ///< kHosts: where they stand

  bool operator==(const PlacementRule&) const = default;
  /// Errors: InputError when `hosts` are those of another number of ranks.
  Placement place(const Placement& recorded) const;
};

/// The host of each rank, from a file of hosts (one a line, that of rank 0 first) or an Open MPI
/// rankfile ("rank 0=host slot=0:1"). '#' starts a comment. Errors: InputError with file and line;
/// a rank that is missing or named twice is one.
PlacementRule read_placement(const std::string& path);

}  // namespace rubato
