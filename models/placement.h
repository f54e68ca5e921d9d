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

}  // namespace rubato
