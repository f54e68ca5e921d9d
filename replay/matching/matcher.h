#pragma once

// Matches sends with receives.
//
// MPI messages are non-overtaking: on one channel (communicator, source, destination, tag) the k-th
// send matches the k-th posted receive. Both sides are added in program order, whatever the order
// in which ranks are run. A channel holds the side that was added first: sends without a receive
// (the unexpected message queue) or receives without a send (the posted receive queue), never both.
//
// Records may be missing: Score-P does not record matched receives (MPI_Mrecv), and filters drop
// calls. A missing record shows as lengths that differ. The receive is the better evidence (its
// length is what arrived), so a send of another length is skipped: it stays unmatched, is counted
// and reported. Where as many sends as receives of a channel stay unmatched, no record is missing
// but the archive contradicts itself about lengths. The next passes match such a channel by order
// alone, and use the length that was sent.
//
// Messages of neighbourhood collectives have tags of their own (kNeighbourTag). The archive
// contains the total bytes to all neighbours and from all, not those of each neighbour; so the
// lengths of the two sides may differ, and the sender's is used.
//
// Where a rank has several timelines, the order in which their sends and posts are added is
// arbitrary. So each carries its number on its channel (rank_calls.h) and matches the other side of
// the same number.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/base/partial_array.h"
#include "models/placement/placement.h"
#include "replay/matching/channel_table.h"
#include "replay/trace/operation.h"

namespace rubato {

/// A message without its times in each lane. Its ranks are stored with its channel.
struct TransferFacts {
  double recorded_send = 0;  ///< enter of the sending call, as recorded
  double recorded_post = 0;  ///< enter of the posting call, as recorded
  uint64_t bytes = 0;
  uint32_t order = 0;             ///< as Action::order
  TransferId next = kNoTransfer;  ///< in its channel
  ChannelId channel = 0;          ///< its queue until its other side is added
  int32_t waiting_receiver = -1;  ///< timeline to wake by the send
  int32_t waiting_sender = -1;    ///< timeline to wake by the receive
  PairClass pair;                 ///< of its ranks
  bool has_send : 1 = false;
  bool has_post : 1 = false;
  /// Completes only when the receive has been posted (rendezvous, synchronous).
  bool sender_waits : 1 = false;
  /// Waits because of its size, not its mode (rendezvous).
  bool handshake : 1 = false;
  bool sender_done : 1 = false;
  bool receiver_done : 1 = false;
  bool synchronous : 1 = false;  ///< by its mode: completes only when the receive has been posted
  bool abandoned : 1 = false;    ///< has no other side: calls that wait keep their recorded time
  bool in_burst : 1 = false;     ///< its send is kInBurst; set where the order of time needs it
  bool second_of_burst : 1 = false;  ///< kSecondOfBurst; likewise
  /// Uses a pull or push handshake, and its arrival is not known in every lane (presence.h).
  bool handshake_pending : 1 = false;
  bool misfits : 1 = false;  ///< its two sides differ in length: Matcher::take_misfit()
};

/// A message: created by the side that is added first, released when both sides are done. With one
/// lane it fills one cache line: with many ranks it has left the nearer caches whenever the replay
/// returns to it.
template <int K>
struct alignas(kCacheLine) Transfer : TransferFacts {
  // Ticks; each is valid once the side that determines it has been added.
  /// When the sender's port takes it (model), or its send was entered (measured). In the pass that
  /// finds the minima, when the sender is known to have finished.
  Lanes<K> sent;
  /// When the receive was posted. In the pass that finds the minima, since when the sender can only
  /// have waited for its send; the leave of a call that may have waited for something else.
  Lanes<K> posted;

  /// Model: when it reaches the receiver; replaces `sent` as soon as it is known.
  Lanes<K>& arrival() { return sent; }
  const Lanes<K>& arrival() const { return sent; }
};
static_assert(sizeof(Transfer<1>) == kCacheLine);

/// A channel found earlier.
struct KnownChannel {
  ChannelId id = 0;
  uint32_t generation : kGenerationBits = 0;  ///< of the table it is in
  uint32_t pair : 32 - kGenerationBits = 0;   ///< of a send: the number of its PairClass
};

static_assert(PairClass::kMost <= 1 << (32 - kGenerationBits));

/// Messages with one side missing.
struct Unmatched {
  uint64_t count = 0;
  // The earliest of them by recorded time:
  Route example;
  uint64_t example_bytes = 0;

  /// Recorded enter of the call of the example, ticks.
  double example_time() const { return std::get<0>(first_); }

  void add(const TransferFacts& transfer, const Route& route) {
    const Key key{transfer.has_send ? transfer.recorded_send : transfer.recorded_post, route.source,
                  route.destination, route.tag};
    if (count++ > 0 && !(key < first_)) return;
    first_ = key;
    example = route;
    example_bytes = transfer.bytes;
  }
  /// Adds those of another process.
  void add(const Unmatched& other) {
    if (other.count > 0 && (count == 0 || other.first_ < first_)) {
      first_ = other.first_;
      example = other.example;
      example_bytes = other.example_bytes;
    }
    count += other.count;
  }
  /// Passes it between processes. `Stream`: ByteWriter or ByteReader.
  template <typename Stream>
  void pass(Stream& stream) {
    auto& [time, source, destination, tag] = first_;
    stream.value(count), stream.value(example), stream.value(example_bytes);
    stream.value(time), stream.value(source), stream.value(destination), stream.value(tag);
  }

 private:
  using Key = std::tuple<double, int32_t, int32_t, uint32_t>;
  Key first_;
};

/// A message whose two sides recorded different lengths.
struct Misfit {
  Route route;
  uint64_t sent = 0;
  uint64_t received = 0;
};

template <int K>
class Matcher {
 public:
  /// For messages to `ranks` ranks, each of which is then added.
  explicit Matcher(int ranks) : table_(ranks), generation_(ranks) {}

  /// Adds the ranks from `first` to before `end` as destinations.
  void add_ranks(int first, int end) {
    table_.make(first, end);
    generation_.make(first, end);
    for (int rank = first; rank < end; ++rank) generation_[rank] = table_[rank].generation();
  }

  /// Keeps the route of each message as long as the message exists; by default only while its other
  /// side is missing.
  void keep_routes() { keeps_routes_ = true; }

  /// Messages of these routes are matched by order, whatever their lengths. Null: none.
  void match_in_order(const std::set<Route>* routes) { in_order_ = routes; }

  Transfer<K>& operator[](TransferId id) { return pool_[id]; }
  const Route& route(TransferId id) const {
    return keeps_routes_ ? routes_[id] : channels_.route(pool_[id].channel);
  }
  /// REQUIRES: keep_routes().
  Route& kept_route(TransferId id) { return routes_[id]; }

  /// A send or receive that is on no channel: its other side is found elsewhere. REQUIRES:
  /// keep_routes().
  TransferId apart(int source, int destination, const Action& action) {
    const TransferId id = create(action);
    routes_[id] = {source, destination, action.comm, action.message.tag};
    return id;
  }

  /// A send whose other side is in another process: on no channel.
  TransferId send_remote(const Action& action) { return create(action); }

  /// True when `known` is still a channel to `destination`.
  [[gnu::always_inline]] bool is_up_to_date(const KnownChannel& known, int destination) const {
    return known.generation == generation_[destination];
  }

  /// Replaces `known` by the channel of a message between two ranks, created if there is none.
  [[gnu::noinline]] void look_up(int source, int destination, const Action& action,
                                 KnownChannel& known) {
    ChannelTable& table = table_[destination];
    known.id = table.find({source, action.comm, action.message.tag}, destination, channels_);
    known.generation = generation_[destination] = table.generation();
  }

  /// The transfer of a send: that of its receive if this has been posted, else a new one.
  /// `recorded`: enter of the sending call.
  [[gnu::always_inline]] TransferId send(const Action& action, ChannelId on, double recorded) {
    Channel& channel = channels_[on];
    const TransferId first = next_of(channel, action.message.order);
    if (first == kNoTransfer || pool_[first].has_send) {
      const TransferId id = create(action, on);
      push(channel, id);
      return id;
    }
    Transfer<K>& posted = pool_[first];
    const uint64_t bytes = action.message.bytes;
    if (posted.bytes != bytes) [[unlikely]] {
      if (!posted.has_post) {  // probed: it stays in the channel
        posted.bytes = bytes;
        return first;
      }
      if (!accept(first, bytes, posted.bytes, on)) return skip(action, on, recorded);
    }
    unlink(channel, first, posted);
    return first;
  }

  /// The transfer of a posted receive: that of its send if this has been added, else a new one.
  /// Sends of another length are skipped and appended to `abandoned`; the caller wakes the
  /// timelines that wait for them, and calls receiver_done() for each.
  [[gnu::always_inline]] TransferId post(const Action& action, ChannelId on,
                                         std::vector<TransferId>& abandoned) {
    Channel& channel = channels_[on];
    for (TransferId id = next_of(channel, action.message.order); id != kNoTransfer;
         id = next_of(channel, action.message.order)) {
      Transfer<K>& sent = pool_[id];
      if (!sent.has_send) break;
      unlink(channel, id, sent);
      const uint64_t bytes = action.message.bytes;
      if (sent.bytes == bytes || accept(id, sent.bytes, bytes, on)) return id;
      sent.abandoned = true;
      leave_unmatched(sent, channels_.route(on)).misfits = true;
      abandoned.push_back(id);
    }
    if (channel.head != kNoTransfer) {
      const TransferId last = last_of(channel, action.message.order);
      if (last != kNoTransfer && !pool_[last].has_post) {  // probed
        pool_[last].bytes = action.message.bytes;
        return last;
      }
    }
    const TransferId id = create(action, on);
    push(channel, id);
    return id;
  }

  /// The transfer of the next receive on a channel that a probe found, for which it is created if
  /// neither side has been added; kNoTransfer if the receive of this order was posted before.
  [[gnu::noinline]] TransferId probe(const Action& action, ChannelId on) {
    Channel& channel = channels_[on];
    const uint32_t order = action.message.order;
    const TransferId first = next_of(channel, order);
    if (first != kNoTransfer && pool_[first].has_send) return first;
    if (const TransferId last = last_of(channel, order); last != kNoTransfer) {
      if (!pool_[last].has_post) return last;
      if (order > 0) return kNoTransfer;
    }
    const TransferId id = create(action, on);
    pool_[id].bytes = UINT64_MAX;  // of no message
    push(channel, id);
    return id;
  }

  /// A receive whose send will never come. `recorded`: enter of the posting call.
  TransferId post_to_nobody(const Action& action, ChannelId on, double recorded) {
    const TransferId id = create(action, on);
    Transfer<K>& transfer = pool_[id];
    transfer.abandoned = true;
    transfer.sender_done = true;
    transfer.recorded_post = recorded;
    leave_unmatched(transfer, channels_.route(on));
    return id;
  }

  /// The send of a posted receive will never come: removes the receive from its channel, so that a
  /// later send matches the next one.
  void abandon_receive(TransferId id) {
    Transfer<K>& transfer = pool_[id];
    unlink(channels_[transfer.channel], id, transfer);
    transfer.abandoned = true;
    transfer.sender_done = true;
    leave_unmatched(transfer, channels_.route(transfer.channel));
  }

  /// No receive will match a send that was just added: removes the send from its channel, and its
  /// sender does not wait. A send that is matched after all stays.
  void abandon_send(TransferId id) {
    Transfer<K>& transfer = pool_[id];
    if (transfer.has_post || transfer.abandoned) return;
    unlink(channels_[transfer.channel], id, transfer);
    transfer.abandoned = true;
    transfer.sender_waits = false;
    transfer.receiver_done = transfer.waiting_receiver < 0;  // a probe looks at it
    leave_unmatched(transfer, channels_.route(transfer.channel));
  }

  /// The two lengths of a message that `misfits`. REQUIRES: called at most once for a message.
  Misfit take_misfit(TransferId id) { return misfits_.extract(id).mapped(); }

  void sender_done(TransferId id) { sender_done(id, pool_[id]); }
  void receiver_done(TransferId id) { receiver_done(id, pool_[id]); }
  /// The same for a caller that has the transfer. Afterwards the transfer may be reused.
  [[gnu::always_inline]] void sender_done(TransferId id, Transfer<K>& transfer) {
    transfer.sender_done = true;
    if (transfer.receiver_done) release(id, transfer);
  }
  [[gnu::always_inline]] void receiver_done(TransferId id, Transfer<K>& transfer) {
    transfer.receiver_done = true;
    if (transfer.sender_done) release(id, transfer);
  }

  /// The sends and receives that stayed unmatched, at the end of a run. `in_order`: routes without
  /// missing records on which lengths differed.
  void list_unmatched(Unmatched& sends, Unmatched& receives, std::set<Route>& in_order) {
    channels_.for_each([&](const Channel& channel, const Route& route) {
      for (TransferId id = channel.head; id != kNoTransfer; id = pool_[id].next) {
        if (pool_[id].has_send || pool_[id].has_post) leave_unmatched(pool_[id], route);
      }
    });
    sends = unmatched_sends_;
    receives = unmatched_receives_;
    for (const auto& [route, lonely] : lonely_) {
      if (lonely.misfits && lonely.sends == lonely.receives) in_order.insert(route);
    }
  }

 private:
  /// The unmatched messages of a route.
  struct Lonely {
    uint64_t sends = 0;
    uint64_t receives = 0;
    bool misfits = false;  ///< a send of another length was skipped on this route
  };

  /// True if a message with two lengths is accepted as one; sets its length.
  [[gnu::noinline]] bool accept(TransferId id, uint64_t sent, uint64_t received, ChannelId on) {
    const Route& route = channels_.route(on);
    Transfer<K>& transfer = pool_[id];
    const bool is_known = is_among_neighbours(route.tag);
    if (!is_known && !(in_order_ && in_order_->contains(route))) return false;
    transfer.bytes = sent;
    transfer.misfits = !is_known;
    if (!is_known) misfits_[id] = {route, sent, received};
    return true;
  }

  /// Counts a message whose other side will not come.
  Lonely& leave_unmatched(const TransferFacts& transfer, const Route& route) {
    (transfer.has_send ? unmatched_sends_ : unmatched_receives_).add(transfer, route);
    Lonely& lonely = lonely_[route];
    ++(transfer.has_send ? lonely.sends : lonely.receives);
    return lonely;
  }

  /// The transfer that the next send or post of a channel matches, or queues behind: the first
  /// entry, or the entry of number `order`.
  TransferId next_of(const Channel& channel, uint32_t order) const {
    TransferId id = channel.head;
    if (order == 0) return id;
    while (id != kNoTransfer && pool_[id].order != order) id = pool_[id].next;
    return id;
  }

  /// The same for the last entry of a channel that is not empty.
  TransferId last_of(const Channel& channel, uint32_t order) const {
    return order > 0 || channel.head == kNoTransfer ? next_of(channel, order) : channel.tail;
  }

  /// A send that does not match the posted receive.
  [[gnu::noinline]] TransferId skip(const Action& action, ChannelId on, double recorded) {
    const TransferId id = create(action, on);
    pool_[id].abandoned = true;
    pool_[id].receiver_done = true;
    pool_[id].has_send = true;
    pool_[id].recorded_send = recorded;
    leave_unmatched(pool_[id], channels_.route(on)).misfits = true;
    return id;
  }

  [[gnu::always_inline]] TransferId create(const Action& action, ChannelId on) {
    const TransferId id = create(action);
    pool_[id].channel = on;
    if (keeps_routes_) routes_[id] = channels_.route(on);
    return id;
  }

  [[gnu::always_inline]] TransferId create(const Action& action) {
    TransferId id;
    if (free_ == kNoTransfer) [[unlikely]] {
      id = grow();
    } else {
      id = free_;
      free_ = pool_[id].next;
    }
    TransferFacts& transfer = pool_[id];
    std::construct_at(&transfer);  // in place: `= {}` is a copy that waits for its stores
    transfer.order = action.message.order;
    transfer.bytes = action.message.bytes;
    return id;
  }

  [[gnu::noinline]] TransferId grow() {
    pool_.emplace_back();
    if (keeps_routes_) routes_.emplace_back();
    return static_cast<TransferId>(pool_.size() - 1);
  }

  void push(Channel& channel, TransferId id) {
    if (channel.head == kNoTransfer) {
      channel.head = id;
    } else {
      pool_[channel.tail].next = id;
    }
    channel.tail = id;
  }

  [[gnu::always_inline]] void unlink(Channel& channel, TransferId id, Transfer<K>& transfer) {
    if (channel.head != id) return unlink_inside(channel, id);
    channel.head = transfer.next;
    transfer.next = kNoTransfer;
  }

  /// Removes an entry that is not the first.
  [[gnu::noinline]] void unlink_inside(Channel& channel, TransferId id) {
    TransferId before = kNoTransfer;
    for (TransferId at = channel.head; at != id; at = pool_[at].next) before = at;
    pool_[before].next = pool_[id].next;
    if (channel.tail == id) channel.tail = before;
    pool_[id].next = kNoTransfer;
  }

  [[gnu::always_inline]] void release(TransferId id, Transfer<K>& transfer) {
    transfer.next = free_;
    free_ = id;
  }

  PartialArray<ChannelTable> table_;   ///< by destination
  PartialArray<uint32_t> generation_;  ///< copies of each table's generation
  ChannelPool channels_;
  std::vector<Transfer<K>> pool_;
  std::vector<Route> routes_;  ///< by transfer, with keep_routes()
  bool keeps_routes_ = false;
  TransferId free_ = kNoTransfer;  ///< first reusable transfer; linked by `next`
  Unmatched unmatched_sends_;      ///< the skipped ones
  Unmatched unmatched_receives_;   ///< the abandoned ones
  std::map<Route, Lonely> lonely_;
  const std::set<Route>* in_order_ = nullptr;
  std::unordered_map<TransferId, Misfit> misfits_;
};

}  // namespace rubato
