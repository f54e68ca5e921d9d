#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/fit/timed_length.h"
#include "models/platform/platform.h"

namespace rubato {

/// The lengths between which sends begin to wait for their receive.
struct ProtocolProbe {
  std::optional<double> eager;    ///< the largest length whose send did not wait
  std::optional<double> waiting;  ///< the least length whose send did
};

/// Progress of a message above the eager limit while its ends compute. Seconds.
struct OverlapTimes {
  double one_way = 0;  ///< with both ends in MPI all the time
  double idle = 0;     ///< wait for a message that has arrived already
  /// Posting plus wait of a receiver that computed in between for longer than the message takes;
  /// the sender was in MPI.
  double receiver_computed = 0;
  /// Wait of a sender that computed likewise; the receiver was in MPI.
  double sender_computed = 0;
  /// Wait of a sender that computed while its receiver computed for longer.
  double both_computed = 0;
};

/// Which ends have to be inside MPI. An end that computed was needed if its wait takes more than
/// 30 % of the message's time.
///
///   receiver needed, sender not          pull
///   sender needed                        push
///   neither, even if both compute        async
///   one of them, if both compute         pull: no protocol describes this exactly, and usually the
///                                        receiver is waited for
Protocol protocol_kind(const OverlapTimes& times);

/// Times of one pattern each, by length; see OverlapTimes.
struct OverlapSamples {
  std::vector<TimedLength> sender_computes, both_compute;
};

/// True for patterns whose times are waits that show which ends have to be inside MPI: their
/// medians count. A disturbance may lengthen such a wait, or shorten it if the computing end lost
/// its processor, so the minimum is meaningless.
bool counts_by_median(const std::string& pattern, double bytes, std::optional<double> waiting);

/// The protocols from the least waiting length on, with an entry at each change, from the lengths
/// that all patterns have. A protocol seen at one length only is noise. Empty when no length has
/// all patterns.
std::vector<ProtocolSegment> find_protocols(double waiting, const OverlapSamples& samples,
                                            const std::vector<TimedLength>& one_way,
                                            const std::vector<TimedLength>& receiver_computes);

}  // namespace rubato
