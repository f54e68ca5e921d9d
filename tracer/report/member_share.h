#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// A collective as its record has it, for one member.
struct RecordedCollective {
  unsigned op;  ///< OTF2's
  bool in_place;
  bool blocking;  ///< the record is not that of a request's completion
  uint32_t root;  ///< a local rank, or one of OTF2's names
  uint64_t sent;
  uint64_t received;

  bool operator==(const RecordedCollective&) const = default;
};

/// The communicator as the member sees it.
struct Membership {
  int rank;   ///< local
  int peers;  ///< members that it communicates with: of the other group of an intercommunicator
  bool inter;
};

/// What a member's part in a collective counts for: MPInside's rules, with the results of the
/// replay's collective_share(), which gets the same record from an archive.
struct MemberShare {
  bool sends = false;
  bool receives = false;
  uint64_t sent = 0;      ///< bytes
  uint64_t received = 0;  ///< bytes
  uint64_t size = 0;      ///< bytes of its size class: the payload for one other member
};
MemberShare member_share(RecordedCollective c, const Membership& member);

/// Which members of a collective wait for which.
enum class WaitsFor : uint8_t { kNothing, kAll, kRoot, kAllAtRoot, kLower };
WaitsFor waits_for(unsigned op);

}  // namespace tracing
}  // namespace rubato
