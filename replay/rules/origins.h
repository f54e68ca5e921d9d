#pragma once

// The origins of messages, and of the busy times of ports, which the rules keep between calls: for
// the critical path. A maximum has the origin of its greater operand (matching/origin.h). So if a
// rank computes less, calls with an origin in that rank end earlier, and no others do, as long as
// no maximum changes sides.
//
//   start of a message   its own call; behind a busy port, the call since which the port is busy
//   arrival              that of the start; with a handshake, the post if it came after the
//                        request; by pull or push, the call of the side that lets it proceed
//                        (presence.h)
//   receive              that of the arrival; behind a busy in-port, the message since which it is
//                        busy
//   collective           the member that entered last of those waited for; in a fence also the puts
//   call                 its own enter, if its overheads end last

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "models/network/in_port.h"
#include "replay/matching/channel_table.h"
#include "replay/matching/origin.h"

namespace rubato {

template <class By>
class Origins;

/// Keeps nothing, so that replays without observers pay nothing.
template <>
class Origins<NoOrigin> {
 public:
  explicit Origins(int) {}
  NoOrigin out(int) const { return {}; }
  void set_out(int, NoOrigin) {}
  NoOrigin arrival(TransferId) const { return {}; }
  NoOrigin post(TransferId, double) const { return {}; }
  void expect(int) {}
  template <int K>
  void take(int, const InPort<K>&, const Lanes<K>&, const Lanes<K>&, Dated<K, NoOrigin>&) {}
};

template <>
class Origins<Origin> {
 public:
  explicit Origins(int timelines) : ports_(timelines) {}

  /// Of the busy period of a timeline's out-port.
  const Origin& out(int timeline) const { return ports_[timeline].out; }
  void set_out(int timeline, const Origin& origin) { ports_[timeline].out = origin; }
  /// Of both ports.
  std::array<Origin, 2> ports(int timeline) const {
    return {ports_[timeline].out, ports_[timeline].in_since};
  }

  /// Of the start of a message, later of its arrival.
  const Origin& arrival(TransferId id) const { return messages_[id].from; }
  void set_arrival(TransferId id, const Origin& origin) {
    if (id >= messages_.size()) messages_.resize(2 * static_cast<size_t>(id) + 16);
    messages_[id].from = origin;
  }
  Origin post(TransferId id, double posted) const { return {messages_[id].receiver, posted}; }
  void set_receiver(TransferId id, int timeline) { messages_[id].receiver = timeline; }

  /// A call of the timeline is about to receive messages.
  void expect(int timeline) {
    std::vector<Taken>& in = ports_[timeline].in;
    if (in.size() > 2 * InPort<1>::kMost)
      in.erase(in.begin(), in.end() - static_cast<std::ptrdiff_t>(InPort<1>::kMost));
  }
  /// The in-port of the timeline has moved a message of `gap` that arrived at `there` by `moved`:
  /// sets the origin of that.
  void take(int timeline, const InPort<1>& port, const Lanes<1>& gap, const Lanes<1>& moved,
            Dated<1>& there) {
    if (!(gap[0] > 0)) return;
    Ports& ports = ports_[timeline];
    ports.in.push_back({there.time[0] - gap[0], there.origin});
    // A forgotten begin is that of the message that the port kept longest before this one.
    const double known = port.busy_since(0), since = std::isfinite(known) ? known : ports.oldest;
    const auto first = std::find_if(ports.in.rbegin(), ports.in.rend(),
                                    [&](const Taken& other) { return other.first == since; });
    if (first != ports.in.rend()) ports.in_since = first->since;
    ports.oldest = port.oldest(0);
    if (moved[0] <= there.time[0]) return;
    ports.in.back().since = ports.in_since;
    for (Taken& other : ports.in) {  // all of the busy period
      if (other.first >= since) other.since = ports.in_since;
    }
    there.origin = ports.in_since;
  }

 private:
  /// A message that took an in-port.
  struct Taken {
    double first;  ///< arrival of its first byte
    Origin since;  ///< of its arrival, or that of the first message of the busy period
  };
  struct Ports {
    Origin out;             ///< of the busy period
    std::vector<Taken> in;  ///< the latest messages that occupied the in-port
    Origin in_since;        ///< of the busy period of the in-port that ends last
    double oldest = 0;      ///< InPort::oldest()
  };
  struct Message {
    Origin from;  ///< of the start, later of the arrival
    int32_t receiver = -1;
  };

  std::vector<Ports> ports_;       ///< by timeline
  std::vector<Message> messages_;  ///< by TransferId
};

}  // namespace rubato
