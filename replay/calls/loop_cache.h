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

#include "replay/calls/call_builder.h"
#include "replay/store/call_store.h"

namespace rubato {

/// A record as it stands in the archive, but for its time and its request.
struct PlainRecord {
  uint64_t what = 0;   ///< its kind, and whatever fits
  uint64_t where = 0;  ///< communicator, peer, tag, ...
  uint64_t sent = 0;
  uint64_t received = 0;

  /// In terms of this file; all others are only compared.
  enum class Request : uint8_t { kNone, kOpens, kCompletes };

  bool operator==(const PlainRecord&) const = default;

  /// The same as ==. What a kind has no use for is 0 in all records of it: where the compiler knows
  /// that of `o`, it need not be compared.
  [[gnu::always_inline]] bool matches(const PlainRecord& o) const {
    const auto is_unused = [](uint64_t word) { return __builtin_constant_p(word) && word == 0; };
    uint64_t differs = what ^ o.what;
    if (!is_unused(o.where)) differs |= where ^ o.where;
    if (!is_unused(o.sent)) differs |= sent ^ o.sent;
    if (!is_unused(o.received)) differs |= received ^ o.received;
    return differs == 0;
  }
};

/// Takes the records of a rank with one timeline, in order, and puts its calls into a store.
class LoopCache {
 public:
  using Request = PlainRecord::Request;
  /// Hands a record to the builder.
  using Give =
      std::function<void(const PlainRecord&, uint64_t event, uint64_t time, uint64_t request)>;

  /// `ticks` of the replay are those of the archive less `origin`. The builder must not keep
  /// records.
  LoopCache(CallBuilder& builder, CallStore& store, int timeline, uint64_t origin, Give give);

  /// A record, of which `role` says what it does with the request: true when it is what is
  /// expected. Else it has to be handed in again, to record().
  [[gnu::always_inline]] bool is_expected(const PlainRecord& record, Request role, uint64_t event,
                                          uint64_t time, uint64_t request) {
    if (event != expected_event_) return false;
    Known& known = *next_;
    const int64_t now = ticks(time);
    known.seen.ticks = now;
    if (role != Request::kNone) known.seen.request = request;
    if (!known.record.matches(record)) return false;
    if (role == Request::kCompletes && (next_ - known.opened_before)->seen.request != request)
      return false;
    backwards_ |= now < before_this_;
    before_this_ = now;
    if (role == Request::kOpens) {
      // One with a higher number than those before is none that is open.
      if (static_cast<int64_t>(request) <= last_opened_) return false;
      last_opened_ = static_cast<int64_t>(request);
    }
    ++expected_event_;
    return ++next_ != end_;
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

  /// When a record came the last time, and with which request.
  struct Seen {
    int64_t ticks = 0;
    uint64_t request = 0;
  };
  struct Known {
    PlainRecord record;
    Seen seen = {};
    uint32_t opened_before;  ///< how far before it that was which it completes; else 0
    Request role;
    bool operator==(const Known& o) const {
      return record == o.record && opened_before == o.opened_before && role == o.role;
    }
  };
  struct Stretch {
    std::vector<Known> records;
    std::vector<KnownCall> calls;
    size_t follower = kNone;
  };

  static constexpr size_t kNone = SIZE_MAX;
  static constexpr uint64_t kNoEvent = UINT64_MAX;
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

  // While following: which of the records of a stretch come next.
  Known* next_ = nullptr;
  Known* end_ = nullptr;
  uint64_t expected_event_ = kNoEvent;  ///< number of the next one; kNoEvent while not following
  int64_t last_opened_ = -1;
  int64_t before_this_ = 0;  ///< ticks of the record before
  bool backwards_ = false;   ///< the clock ran backwards: the builder counts that

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
