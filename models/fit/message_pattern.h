#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

/// Shapes of communication, after mpptest (Gropp and Lusk, "Reproducible Measurements of MPI
/// Performance Characteristics", 1999).
enum class PatternShape : uint8_t {
  kPingPong,    ///< two ranks, one after the other; time: half a round trip
  kHeadToHead,  ///< two ranks, both at once; time: of an exchange
  kOverlap,     ///< the same, while each computes for as long as the exchange takes alone
  kBisection,   ///< all ranks in pairs from both halves, each pair a ping-pong at the same time
  kRing,        ///< all ranks: to the next one, from the one before
  kHalo,        ///< all ranks on a torus of two dimensions: with all neighbours
  kButterfly,   ///< all ranks: with the one at distance 1, then 2, 4, ... (numbers differ in a bit)
  kPartners,    ///< all ranks: pairs of a program, as a file lists them
};

/// The MPI calls of a pattern.
enum class PatternMode : uint8_t {
  kBlocking,     ///< MPI_Send and MPI_Recv, or MPI_Sendrecv
  kNonblocking,  ///< MPI_Irecv, MPI_Isend, MPI_Waitall
  kPersistent,   ///< MPI_Startall, MPI_Waitall
  kSynchronous,  ///< MPI_Ssend, or MPI_Issend
  kReady,        ///< MPI_Rsend, to a posted receive: only ping-pongs in the caches
};

/// One of the further patterns that `rubato calibrate` measures.
struct MessagePattern {
  PatternShape shape = PatternShape::kPingPong;
  PatternMode mode = PatternMode::kBlocking;
  bool cold = false;  ///< data from outside of the caches
  int distance = 1;   ///< of a ring: to the rank so many further on

  /// The order of measurement.
  auto operator<=>(const MessagePattern&) const = default;
  /// True if only two ranks communicate.
  bool between_two() const;
  /// Name in files of samples: "halo_nonblocking", "pingpong_synchronous_cold", "ring",
  /// "ring_4_cold".
  std::string name() const;
};

inline constexpr int kMostNeighbours = 4;

/// The ranks that a rank of a pattern sends to and receives from: the message to to[k] is the one
/// that its receiver gets from from[k].
struct PatternNeighbours {
  int count = 0;
  std::array<int, kMostNeighbours> to{}, from{};
};
/// `distance`: of a ring, or of this step of a butterfly, where a rank without a partner has none.
/// None of kPartners, which a file lists.
PatternNeighbours neighbours_of(PatternShape shape, int rank, int ranks, int distance = 1);

/// The patterns that a fitted platform is checked with: no curve is fitted to them, and the model
/// predicts them. Their messages meet others: exchanges of two ranks, rings and halos with blocking
/// or nonblocking calls, bisections with blocking ones, all in the caches.
std::vector<MessagePattern> checked_patterns();

/// True for the name of a pattern in which all ranks communicate, in any mode.
bool is_of_all_ranks(const std::string& name);

/// The patterns measured by default.
inline constexpr const char* kDefaultPatterns =
    "pingpong_nonblocking,pingpong_persistent,pingpong_synchronous,pingpong_ready,pingpong_cold,"
    "headtohead,headtohead_nonblocking,overlap,bisection,ring,halo_nonblocking";

/// Reads a comma-separated list of names, "default", "all" (but partners) or "none"; returns each
/// pattern once, in the order of measurement. `overlap` adds headtohead_nonblocking, whose time
/// determines how long to compute. Errors: UsageError that names the word.
std::vector<MessagePattern> parse_patterns(const std::string& list);

}  // namespace rubato
