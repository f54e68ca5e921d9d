#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/cost/platform.h"
#include "models/fit/timed_length.h"

namespace rubato {

/// How much of a message above the eager limit goes on while its ends compute. Seconds.
struct OverlapTimes {
  double one_way = 0;  ///< with both ends in MPI all the time
  double idle = 0;     ///< what waiting for a message takes that is there already
  /// In posting and in the wait of a receiver that computed in between for longer than the message
  /// takes; the sender was in MPI.
  double receiver_computed = 0;
  /// In the wait of a sender that computed likewise; the receiver was in MPI.
  double sender_computed = 0;
  /// In the wait of a sender that computed, and whose receiver did so for longer.
  double both_computed = 0;
};

/// Who has to be inside MPI. A time in a wait says that the one who computed was needed when it
/// holds more than 30 % of the message's time.
///
///   receiver needed, sender not     pull
///   sender needed                   push
///   neither, and both at once not   async
///   neither, but one of the two     pull: there is no word for either, and the receiver is the one
///                                   who is waited for
Protocol protocol_kind(const OverlapTimes& times);

/// Times of one pattern each, by length; see OverlapTimes.
struct OverlapSamples {
  std::vector<TimedLength> sender_computes, both_compute;
};

/// Whether the times of a pattern are those of waits that tell who has to be inside MPI: their
/// medians count. A disturbance makes such a wait longer, or shorter where it was the end that
/// computed which lost its processor, so their minimum is what it never takes.
bool counts_by_median(const std::string& pattern, double bytes, std::optional<double> waiting);

/// The kinds from the least length on that waits for its receive, one entry where it changes: those
/// of the lengths that all patterns have. A kind that is seen at one length only is noise. Empty
/// when no length has all patterns.
std::vector<ProtocolSegment> find_protocols(double waiting, const OverlapSamples& samples,
                                            const std::vector<TimedLength>& one_way,
                                            const std::vector<TimedLength>& receiver_computes);

}  // namespace rubato
