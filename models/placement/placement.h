#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/fixed_list.h"

namespace rubato {

/// A distance class between two ranks, the nearest first: the same rank, the same socket (as far as
/// it is known), the same node, different nodes.
enum class Level : uint8_t { kSelf, kSocket, kNode, kNetwork };
inline constexpr int kLevels = 4;
inline constexpr std::array<const char*, kLevels> kLevelNames = {"self", "socket", "node",
                                                                 "network"};
/// A class of pairs of ranks that cost the same: a level, or for pairs on different nodes a
/// distance, if a network model defines distances (models/placement/distances.h).
class PairClass {
 public:
  static constexpr int kMost = 256;  ///< classes, with the levels
  static constexpr int kMostDistances = kMost - kLevels;

  constexpr PairClass(Level level = Level::kSelf)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<uint8_t>(level)) {}
  /// Pairs of this distance, below kMostDistances.
  static constexpr PairClass of_distance(int distance) { return from_number(kLevels + distance); }
  static constexpr PairClass from_number(int number) {
    PairClass pair;
    pair.number_ = static_cast<uint8_t>(number);
    return pair;
  }

  /// Below kMost; for a level, the level's number.
  constexpr int number() const { return number_; }
  constexpr Level level() const {
    return number_ < kLevels ? static_cast<Level>(number_) : Level::kNetwork;
  }
  /// Below 0: no distance is known.
  constexpr int distance() const { return number_ - kLevels; }
  bool operator==(const PairClass&) const = default;

 private:
  uint8_t number_;
};

/// The socket of a rank that may run on several sockets, or whose socket is unknown.
inline constexpr int kNoSocket = -1;

/// The node of each rank, and its socket where known. Copies share memory.
class Placement {
 public:
  Placement() = default;
  /// Sockets by rank, counted within the node, or kNoSocket; empty: unknown for all ranks.
  explicit Placement(std::span<const int> node_of_rank, std::span<const int> socket_of_rank = {});
  explicit Placement(const std::vector<int>& node_of_rank,
                     const std::vector<int>& socket_of_rank = {})
      : Placement(std::span(node_of_rank), std::span(socket_of_rank)) {}

  /// Ranks 0..per_node-1 on node 0, the next per_node on node 1, and so on.
  static Placement blocks(int ranks, int per_node);
  /// Rank r on node r modulo `nodes`.
  static Placement round_robin(int ranks, int nodes);
  /// Ranks that name the same host share a node; nodes are numbered as they are first named.
  /// Sockets as in the constructor.
  static Placement by_hosts(const std::vector<std::string>& host_of_rank,
                            const std::vector<int>& socket_of_rank = {});
  /// The same nodes, with the ranks of each in blocks of about equal size on `sockets` sockets.
  Placement on_sockets(int sockets) const;
  /// The same places, assigned to ranks in an order drawn by `seed`.
  Placement shuffled(uint64_t seed) const;
  /// The same nodes, in the order of their numbers, as nodes `numbers` of a network. Errors:
  /// InputError for too few numbers.
  Placement on_network(const std::vector<int>& numbers) const;

  /// The ranks of `other` behind these, on nodes of their own, which keep their positions in the
  /// network.
  Placement beside(const Placement& other) const;

  int ranks() const { return static_cast<int>(places_.size()); }
  int nodes() const;
  int node_of(int rank) const { return places_[rank].node; }
  /// The number of its node in a network with a topology.
  int network_node_of(int rank) const { return places_[rank].network_node; }
  /// The highest of these numbers, plus 1.
  int network_nodes() const;
  int socket_of(int rank) const { return places_[rank].socket; }
  /// True when the socket of any rank is known.
  bool knows_sockets() const;
  /// False if no pair of ranks has that level.
  bool has(Level level) const;

  Level level(int a, int b) const {
    if (a == b) return Level::kSelf;
    const Place &of_a = places_[a], &of_b = places_[b];
    if (of_a.node != of_b.node) return Level::kNetwork;
    return of_a.socket == of_b.socket && of_a.socket != kNoSocket ? Level::kSocket : Level::kNode;
  }

 private:
  struct Place {
    int node = 0;
    int socket = kNoSocket;
    int network_node = 0;
  };
  static Placement of(std::vector<Place> places);

  FixedList<Place> places_;  ///< by rank
};

/// How a scenario places ranks, before the number of ranks is known.
struct PlacementRule {
  enum class Kind : uint8_t { kRecorded, kBlocks, kRoundRobin, kHosts, kFixed };
  Kind kind = Kind::kRecorded;
  int count = 0;                           ///< kBlocks: ranks per node; kRoundRobin: nodes
  int per_node = 0;                        ///< of ppn=, which kRoundRobin keeps; 0: not given
  std::vector<std::string> hosts;          ///< kHosts: by rank
  std::vector<int> slots;                  ///< kHosts: the socket of each rank, or kNoSocket
  std::optional<uint64_t> shuffle;         ///< the seed of shuffled()
  std::vector<int> nodes;                  ///< used nodes of the network; empty: from 0 on
  int sockets = 0;                         ///< sockets per node, filled in blocks; 0: as recorded
  std::string file;                        ///< kHosts: the file that names them
  std::shared_ptr<const Placement> fixed;  ///< kFixed: this one, whatever was recorded

  bool operator==(const PlacementRule&) const = default;
  /// Errors: InputError when the number of `hosts` differs from that of ranks, and for more than
  /// `per_node` ranks on a node of kRoundRobin.
  Placement place(const Placement& recorded) const;

 private:
  Placement on_nodes(const Placement& recorded) const;
};

/// The numbers 0 to `count` - 1 in an order drawn by `seed`, the same on all machines.
std::vector<int> drawn_order(int count, uint64_t seed);

/// The host of each rank, from a file of hosts (one a line, that of rank 0 first) or an Open MPI
/// rankfile ("rank 0=host slot=0:1", socket 0 and its core 1). '#' starts a comment. Errors:
/// InputError with file and line; a rank that is missing or named twice is one.
PlacementRule read_placement(const std::string& path);

}  // namespace rubato
