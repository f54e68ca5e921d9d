#include "tracer/report/wait_samples.h"

#include <algorithm>
#include <map>
#include <span>

namespace rubato {
inline namespace tracing {

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

uint64_t WaitSamples::next_key(uint64_t channel, uint64_t counter) {
  if (spoilt_) return 0;
  uint64_t* const number = numbers_.put(counter);
  if (number == nullptr || *number == kSpoilt) return 0;
  return mixed(channel, ++*number);
}

uint64_t WaitSamples::coming_key(uint64_t channel, uint64_t counter) {
  const uint64_t* const number = numbers_.find(counter);
  if (number == nullptr) return mixed(channel, 1);
  return *number == kSpoilt ? 0 : mixed(channel, *number + 1);
}

void WaitSamples::spoil(uint64_t counter) {
  if (uint64_t* const number = numbers_.put(counter)) *number = kSpoilt;
}

void WaitSamples::add(const Sample& sample) {
  while (samples_.size() == kMost) {
    stride_ *= 2;
    size_t kept = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (wants(samples_[i].key)) samples_[kept++] = samples_[i];
    }
    samples_.shrink(kept);
  }
  if (wants(sample.key)) samples_.push(sample);
}

bool WaitSamples::counts(const Sample& sample, uint64_t stride) {
  const uint64_t* const number = numbers_.find(sample.counter);
  return !spoilt_ && number != nullptr && *number != kSpoilt && (sample.key & (stride - 1)) == 0;
}

uint64_t WaitSamples::stride_for(uint64_t stride, size_t most) const {
  stride = std::max(stride, stride_);
  const auto left = [&] {
    size_t n = 0;
    for (size_t i = 0; i < samples_.size(); ++i) n += (samples_[i].key & (stride - 1)) == 0;
    return n;
  };
  while (left() > most) stride *= 2;
  return stride;
}

std::vector<Sample> WaitSamples::take(uint64_t stride) {
  std::vector<Sample> taken;
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (counts(samples_[i], stride)) taken.push_back(samples_[i]);
  }
  return taken;
}

namespace {

/// A sample and its rank.
struct Seen {
  size_t rank;
  const Sample* sample;
};

/// The time of the call, or of the polls, with a core.
double inside(const Sample& sample) {
  const bool probes = sample.role == SampleRole::kProbe || sample.role == SampleRole::kSendPolls;
  const uint64_t all = (probes ? sample.posted : sample.leave) - sample.enter;
  return static_cast<double>(all - std::min(all, sample.stolen));
}

/// From the enter of a waiting call until `until`, at most until its leave; what was lost of the
/// call counts evenly.
double waited(const Sample& sample, uint64_t until) {
  until = std::min(until, sample.leave);
  if (until <= sample.enter) return 0;
  return static_cast<double>(until - sample.enter) * inside(sample) /
         static_cast<double>(sample.leave - sample.enter);
}

/// A sender waits for a receive that is posted after its call begins and before that ends.
double waited_for_receive(const Sample& sample, uint64_t posted) {
  return posted <= sample.leave ? waited(sample, posted) : 0;
}

/// The waits of one call: several samples may belong to it.
struct CallWait {
  double late_sender = 0, late_receiver = 0, collective = 0;
  double inside = 0;
  uint32_t call = 0;
};
using CallWaits = std::vector<std::map<uint64_t, CallWait>>;  ///< by rank and enter

CallWait& wait_of(CallWaits& waits, const Seen& seen) {
  CallWait& wait = waits[seen.rank][seen.sample->enter];
  wait.inside = inside(*seen.sample);
  wait.call = seen.sample->call;
  return wait;
}

void match_message(std::span<const Seen> group, CallWaits& waits) {
  const Seen *send = nullptr, *receive = nullptr;
  uint64_t sent = 0;  // when the send was complete, if a later call says so
  for (const Seen& seen : group) {
    if (seen.sample->role == SampleRole::kSend) send = &seen;
    if (seen.sample->role == SampleRole::kReceive) receive = &seen;
    if (seen.sample->role == SampleRole::kSendWait) sent = seen.sample->leave;
  }
  if (send == nullptr || receive == nullptr) return;
  for (const Seen& seen : group) {
    CallWait& wait = wait_of(waits, seen);
    if (seen.sample->role >= SampleRole::kProbe) {
      wait.late_sender = std::max(wait.late_sender, waited(*seen.sample, send->sample->enter));
    } else if (seen.sample->role != SampleRole::kSendPolls) {
      wait.late_receiver =
          std::max(wait.late_receiver, waited_for_receive(*seen.sample, receive->sample->posted));
    } else if (receive->sample->posted <= sent) {
      wait.late_receiver =
          std::max(wait.late_receiver, waited(*seen.sample, receive->sample->posted));
    }
  }
}

void match_collective(std::span<const Seen> group, CallWaits& waits) {
  uint64_t last = 0, root = 0, contributor = 0;
  for (const Seen& seen : group) {
    last = std::max(last, seen.sample->enter);
    if (seen.sample->role == SampleRole::kRoot) root = seen.sample->enter;
    if (seen.sample->role == SampleRole::kContributor)
      contributor = std::max(contributor, seen.sample->enter);
  }
  for (const Seen& seen : group) {
    uint64_t until = 0;
    switch (seen.sample->role) {
      case SampleRole::kMember:
        until = last;
        break;
      case SampleRole::kNotRoot:
        until = root;
        break;
      case SampleRole::kRootAtLast:
        until = contributor;
        break;
      case SampleRole::kPrefix:
        for (const Seen& other : group) {
          if (other.sample->posted < seen.sample->posted)
            until = std::max(until, other.sample->enter);
        }
        break;
      default:
        break;
    }
    wait_of(waits, seen).collective += waited(*seen.sample, until);
  }
}

}  // namespace

std::vector<std::vector<SampledWaits>> find_waits(std::vector<RankSamples>& ranks) {
  std::vector<Seen> all;
  std::vector<std::vector<SampledWaits>> found(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Sample& sample : ranks[rank].samples) {
      all.push_back({rank, &sample});
      if (found[rank].size() <= sample.call) found[rank].resize(sample.call + 1);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Seen& a, const Seen& b) { return a.sample->key < b.sample->key; });
  CallWaits waits(ranks.size());
  for (size_t first = 0; first < all.size();) {
    size_t end = first;
    while (end < all.size() && all[end].sample->key == all[first].sample->key) ++end;
    const std::span<const Seen> group(all.data() + first, end - first);
    if (group[0].sample->role <= SampleRole::kReceive)
      match_message(group, waits);
    else
      match_collective(group, waits);
    first = end;
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [enter, wait] : waits[rank]) {
      SampledWaits& sum = found[rank][wait.call];
      sum.observed += wait.inside;
      // A call waits for the last of its causes.
      if (wait.late_sender >= wait.late_receiver)
        sum.late_sender += wait.late_sender;
      else
        sum.late_receiver += wait.late_receiver;
      sum.collective += wait.collective;
    }
  }
  return found;
}

}  // namespace tracing
}  // namespace rubato
