#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

/// Who talks to whom, after mpptest (Gropp and Lusk, "Reproducible Measurements of MPI Performance
/// Characteristics", 1999).
enum class PatternShape : uint8_t {
  kPingPong,    ///< two ranks, one after the other; time: half a round trip
  kHeadToHead,  ///< two ranks, both at once; time: of an exchange
  kOverlap,     ///< likewise, while each computes for as long as the exchange takes alone
  kBisection,   ///< all ranks in pairs from both halves, each pair a ping-pong at the same time
  kRing,        ///< all ranks: to the next one, from the one before
  kHalo,        ///< all ranks on a torus of two dimensions: with all neighbours
};

/// With which calls.
enum class PatternMode : uint8_t {
  kBlocking,     ///< MPI_Send and MPI_Recv, or MPI_Sendrecv
  kNonblocking,  ///< MPI_Irecv, MPI_Isend, MPI_Waitall
  kPersistent,   ///< MPI_Startall, MPI_Waitall
  kSynchronous,  ///< MPI_Ssend, or MPI_Issend
  kReady,        ///< MPI_Rsend, to a receive that is posted: ping-pongs in the caches alone
};

/// One of the further patterns that `rubato calibrate` measures.
struct MessagePattern {
  PatternShape shape = PatternShape::kPingPong;
  PatternMode mode = PatternMode::kBlocking;
  bool cold = false;  ///< data from outside of the caches

  bool operator==(const MessagePattern&) const = default;
  /// True where only two ranks talk.
  bool between_two() const;
  /// As files of samples call it: "halo_nonblocking", "pingpong_synchronous_cold", "ring".
  std::string name() const;
};

/// True for the name of a pattern in which all ranks talk, in whatever mode.
bool is_of_all_ranks(const std::string& name);

/// Those that are measured unless told otherwise.
inline constexpr const char* kDefaultPatterns =
    "pingpong_nonblocking,pingpong_persistent,pingpong_synchronous,pingpong_ready,pingpong_cold,"
    "headtohead,headtohead_nonblocking,overlap,bisection,ring,halo_nonblocking";

/// Reads names with commas between, "default", "all" or "none"; each pattern once, in the order in
/// which they are measured. With `overlap` comes headtohead_nonblocking, which says for how long to
/// compute. Errors: UsageError that names the word.
std::vector<MessagePattern> parse_patterns(const std::string& list);

}  // namespace rubato
