#pragma once

// Programs go round in loops, and so do the records of a rank. To make calls of records, and to
// compare calls with those that came before (packed_calls.h), is work that a record need not cost
// when it says the same as one turn earlier.
//
// A *stretch* is what a rank records from one quiet moment to the next: between two calls, with no
// request open. What calls a stretch becomes depends on its records alone, not on what was before,
// nor on its times; requests may have other numbers as long as each record completes what the same
// one before it began. So of every stretch its records are kept and, as shapes, its calls. After a
// stretch the one is expected that followed the last time. As long as records are the expected ones
// only their times are noted; at its end its calls are packed, shape by shape. At the first record
// that is another one, all that were noted go to the CallBuilder, as if nothing had been expected,
// and what they become is a stretch to know, too.
//
// Where stretches do not come again, or are never over (a request that never completes), nothing is
// expected for a while, then tried anew. Calls are the same in any case.

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/call_builder.h"
#include "replay/call_store.h"

namespace rubato {

/// A record as it stands in the archive, but for its time and its request.
struct PlainRecord {
  uint64_t what = 0;   ///< its kind, and whatever fits
  uint64_t where = 0;  ///< communicator, peer, tag, ...
  uint64_t sent = 0;
  uint64_t received = 0;

  /// In terms of this file; all others are only compared.
  enum class Request : uint8_t { kNone, kOpens, kCompletes };

  bool operator==(const PlainRecord& o) const {
    return ((what ^ o.what) | (where ^ o.where) | (sent ^ o.sent) | (received ^ o.received)) == 0;
  }
};

/// Takes the records of a rank with one timeline, in order, and puts its calls into a store.
class Stretches {
 public:
  using Request = PlainRecord::Request;
  /// Hands a record to the builder.
  using Give =
      std::function<void(const PlainRecord&, uint64_t event, uint64_t time, uint64_t request)>;

  /// `ticks` of the replay are those of the archive less `origin`. The builder must not keep
  /// records.
  Stretches(CallBuilder& builder, CallStore& store, int timeline, uint64_t origin, Give give);

  /// A record, of which `role` says what it does with the request: true when it is what is
  /// expected. Else it has to be handed in again, to record().
  [[gnu::always_inline]] bool is_expected(const PlainRecord& record, Request role, uint64_t event,
                                          uint64_t time, uint64_t request) {
    if (next_ >= expected_) return false;
    const Known& known = known_[next_];
    const int64_t now = ticks(time);
    seen_[next_] = {now, request};
    if (!(known.record == record) || seen_[known.opener].request != request ||
        event != expected_event_ + next_)
      return false;
    backwards_ |= now < before_this_;
    before_this_ = now;
    if (role == Request::kOpens) {
      // One with a higher number than those before is none that is open.
      if (static_cast<int64_t>(request) <= last_opened_) return false;
      last_opened_ = static_cast<int64_t>(request);
    }
    return ++next_ < expected_;
  }

  /// A record that was not, or the last one of what was.
  void record(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
              uint64_t request);

  /// A record of another kind comes, which goes to the builder.
  void interrupt();

  /// True when calls may be taken from the builder, by others than this.
  bool is_idle() const { return mode_ == Mode::kIdle; }

  /// No more records come: the builder gets those that it has not got.
  void finish() { interrupt(); }

 private:
  enum class Mode : uint8_t { kIdle, kLearning, kFollowing };

  struct Known {
    PlainRecord record;
    uint32_t opener;  ///< index of the record that opened what this one completes, else its own
    Request role;
    bool operator==(const Known&) const = default;
  };
  struct Seen {
    int64_t ticks;
    uint64_t request;
  };
  struct Stretch {
    std::vector<Known> records;
    std::vector<KnownCall> calls;
    size_t follower = kNone;
  };

  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kMostRecords = 1024;  ///< of a stretch
  static constexpr int kMostCredit = 256;
  static constexpr int kPause = 4096;  ///< records in which nothing is expected

  void end_as_expected();
  void give_up_expectation();
  void learn(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
             uint64_t request);
  void end_of_learning();
  /// Among those known; it becomes one of them where it is new.
  size_t number_of_learned();
  void begin();
  void begin_to_learn();
  void rest();
  int64_t ticks(uint64_t time) const { return static_cast<int64_t>(time - origin_); }
  uint64_t time(const Seen& seen) const { return static_cast<uint64_t>(seen.ticks) + origin_; }
  static uint64_t hash(const Stretch& stretch);

  CallBuilder* builder_;
  CallStore* store_;
  CallPacker* packer_;
  int timeline_;
  uint64_t origin_;
  Give give_;

  // While following: what is expected, and what came of it. Else expected_ is 0.
  const Known* known_ = nullptr;
  size_t expected_ = 0;
  size_t next_ = 0;
  uint64_t expected_event_ = 0;  ///< number of the first record
  int64_t last_opened_ = -1;
  int64_t before_this_ = 0;  ///< ticks of the record before
  bool backwards_ = false;   ///< the clock ran backwards: the builder counts that
  std::vector<Seen> seen_;

  Mode mode_ = Mode::kIdle;
  std::vector<Stretch> stretches_;  ///< of the current piece
  std::unordered_multimap<uint64_t, size_t> by_hash_;
  size_t current_ = kNone;
  size_t before_ = kNone;
  Stretch learned_;
  std::unordered_map<uint64_t, uint32_t> open_;  ///< while learning: by request
  uint64_t first_event_ = 0;                     ///< likewise
  bool can_be_known_ = true;                     ///< what is being learned
  Block block_;
  int credit_ = kMostCredit;
  int pause_ = 0;
};

}  // namespace rubato
