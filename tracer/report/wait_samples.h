#pragma once

#include <cstdint>
#include <vector>

#include "tracer/base/packing.h"
#include "tracer/report/flat_table.h"

/// Times of a sample of messages and collectives, from which rank 0 finds waits at the end of a run
/// without a trace.
///
/// The messages of a channel (communicator, sender, receiver, tag) are received in the order in
/// which they are sent, and all members make the collectives of a communicator in one order. So
/// both sides can number them, and compute the same key for each, without a word to each other. A
/// message is in the sample if the hash of its key is divisible by the stride; the stride doubles
/// when the memory is full, and at the end the largest one of all ranks counts. With a stride of 1
/// all waits are known.
namespace rubato {
inline namespace tracing {

enum class SampleRole : uint8_t {
  kSend,         ///< the call that sends
  kSendWait,     ///< the call that completes the send
  kSendPolls,    ///< the tests before the one that completes the send
  kProbe,        ///< a probe that found the message, or the polls before it was found or received
  kReceive,      ///< the call that receives, or completes the receive
  kMember,       ///< of a collective in which all wait for all
  kRoot,         ///< for which the others wait
  kNotRoot,      ///< waits for the root
  kRootAtLast,   ///< waits for the others
  kContributor,  ///< for which the root waits
  kPrefix,       ///< waits for the lower ranks
};

struct Sample {
  uint64_t key;
  uint64_t counter;
  uint64_t enter;   ///< of the call
  uint64_t leave;   ///< likewise
  uint64_t posted;  ///< when the receive was posted; local rank of kPrefix; of kSendPolls and
                    ///< kProbe: the enter plus the ticks in the polls
  uint64_t stolen;  ///< nanoseconds of the call without a core, which are no part of its waits
  uint32_t call;    ///< index of its sums
  SampleRole role;
};

class WaitSamples {
 public:
  static constexpr size_t kMost = 1 << 14;

  /// The key of the next message or collective of a channel; 0 if it cannot be numbered.
  /// `counter`: a number for the channel and this side of it.
  uint64_t next_key(uint64_t channel, uint64_t counter);
  /// The same, of a message that is not received yet.
  uint64_t coming_key(uint64_t channel, uint64_t counter);
  /// The order is unknown from here on; what was sampled of this counter does not count.
  void spoil(uint64_t counter);
  /// The same for all channels.
  void spoil_all() { spoilt_ = true; }

  bool wants(uint64_t key) const { return key != 0 && (key & (stride_ - 1)) == 0; }
  void add(const Sample& sample);

  bool spoilt() const { return spoilt_; }
  uint64_t stride() const { return stride_; }
  /// The smallest stride not below `stride` that leaves at most `most` samples.
  uint64_t stride_for(uint64_t stride, size_t most) const;
  /// The ones to count at this stride.
  std::vector<Sample> take(uint64_t stride);

 private:
  static constexpr uint64_t kSpoilt = UINT64_MAX;
  bool counts(const Sample& sample, uint64_t stride);

  uint64_t stride_ = 1;
  bool spoilt_ = false;
  FlatTable<uint64_t> numbers_{1 << 15};  ///< so far, by counter
  FlatArray<Sample> samples_{kMost};
};

/// A number for two.
uint64_t mixed(uint64_t a, uint64_t b);

/// What was found for the calls of one kind of a rank, in ticks.
struct SampledWaits {
  double late_sender = 0;
  double late_receiver = 0;
  double collective = 0;
  double observed = 0;  ///< time of the calls that these are part of
};

/// The samples of a rank, with times of the reference clock.
struct RankSamples {
  std::vector<Sample> samples;
};
/// The waits of each rank by Sample::call. Samples without a partner do not count.
std::vector<std::vector<SampledWaits>> find_waits(std::vector<RankSamples>& ranks);

}  // namespace tracing
}  // namespace rubato
