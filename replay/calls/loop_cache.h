#pragma once

// Programs loop, and so do the records of a rank. A record that repeats the one of the previous
// iteration need not be turned into a call again, nor compared with known shapes (packed_calls.h).
//
// A *stretch* is the sequence of records between two quiet moments of a rank: between two calls,
// with no request open. The calls of a stretch depend on its records alone, neither on earlier
// records nor on times; request numbers may differ if each record completes the request of the same
// earlier record. So the cache keeps the records of each stretch and, as shapes, its calls. After a
// stretch it expects the one that followed the last time. While records are as expected, only their
// times are noted; at the end of the stretch its calls are packed, shape by shape. At the first
// unexpected record, the noted records go to the CallBuilder, as without the cache, and the result
// is a new stretch.
//
// If stretches do not repeat, or never end (a request that never completes), the cache pauses and
// tries again later. The calls are the same in any case.
//
// A run of polls needs no quiet moment: one more poll (polling.h) with no records but its Enter and
// its Leave does not depend on earlier records. So after a few polls the cache expects more of
// them, and passes them to the builder in batches.

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/calls/call_builder.h"
#include "replay/store/call_store.h"

namespace rubato {

/// A record of the archive without its time and its request.
struct PlainRecord {
  uint64_t what = 0;   ///< its kind, and further fields that fit
  uint64_t where = 0;  ///< communicator, peer, tag, ...
  uint64_t sent = 0;
  uint64_t received = 0;

  /// What a record does with a request; everything else is only compared.
  enum class Request : uint8_t { kNone, kOpens, kCompletes };

  bool operator==(const PlainRecord&) const = default;

  /// The same as ==. A field that a kind does not use is 0 in all its records; if the compiler
  /// knows that of `o`, it skips the comparison.
  [[gnu::always_inline]] bool matches(const PlainRecord& o) const {
    const auto is_unused = [](uint64_t word) { return __builtin_constant_p(word) && word == 0; };
    uint64_t differs = what ^ o.what;
    if (!is_unused(o.where)) differs |= where ^ o.where;
    if (!is_unused(o.sent)) differs |= sent ^ o.sent;
    if (!is_unused(o.received)) differs |= received ^ o.received;
    return differs == 0;
  }
};

/// Takes the records of a rank with one timeline, in order, and stores its calls.
class LoopCache {
 public:
  using Request = PlainRecord::Request;
  /// Passes a record to the builder.
  using Give =
      std::function<void(const PlainRecord&, uint64_t event, uint64_t time, uint64_t request)>;

  /// `ticks` of the replay are those of the archive less `origin`. The builder must not keep
  /// records.
  LoopCache(CallBuilder& builder, CallStore& store, int timeline, uint64_t origin, Give give);

  /// True when the record is the expected one; `role` is its use of the request. Otherwise the
  /// caller passes it to record().
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
      // A request with a higher number than all before cannot be open.
      if (static_cast<int64_t>(request) <= last_opened_) return false;
      last_opened_ = static_cast<int64_t>(request);
    }
    ++expected_event_;
    return ++next_ != end_;
  }

  /// An unexpected record, or the last one of an expected stretch.
  void record(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
              uint64_t request);

  /// A record of another kind follows, which goes to the builder.
  void interrupt();

  /// True when others may take calls from the builder.
  bool is_idle() const { return mode_ == Mode::kIdle || mode_ == Mode::kPolling; }

  /// End of the records: the builder gets the outstanding ones.
  void finish() { interrupt(); }

 private:
  enum class Mode : uint8_t { kIdle, kLearning, kFollowing, kPolling };

  /// Time and request of a record in its last occurrence.
  struct Seen {
    int64_t ticks = 0;
    uint64_t request = 0;
  };
  struct Known {
    PlainRecord record;
    Seen seen = {};
    uint32_t opened_before = 0;  ///< distance to the record that opened its request; else 0
    Request role = Request::kNone;
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
  static constexpr int kPause = 4096;     ///< records during which nothing is expected
  static constexpr size_t kFewPolls = 4;  ///< after so many polls more are expected
  static constexpr size_t kPollsAtOnce = 64;

  void end_as_expected();
  void give_up_expectation();
  /// The builder received `last` just now: if that ended a poll, expects more polls like it.
  void expect_polls(const PlainRecord& last, uint64_t event, uint64_t time);
  /// Expects polls_ after this record.
  void expect_polls_behind(uint64_t event, uint64_t time);
  /// Passes the polls that arrived as expected to the builder.
  void give_polls();
  void learn(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
             uint64_t request);
  void end_of_learning();
  /// The number of the learned stretch among the known ones; a new one is added.
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

  // While following: the next record of the stretch. While polling: of polls_.
  Known* next_ = nullptr;
  Known* end_ = nullptr;
  uint64_t expected_event_ = kNoEvent;  ///< number of the next record; kNoEvent while not following
  int64_t last_opened_ = -1;
  int64_t before_this_ = 0;  ///< ticks of the previous record
  bool backwards_ = false;   ///< the clock ran backwards: the builder counts this

  Mode mode_ = Mode::kIdle;
  std::vector<Known> polls_;   ///< alternating Enter and Leave
  PlainRecord record_before_;  ///< the last record received while nothing was expected
  uint64_t event_before_ = kNoEvent;
  std::vector<Stretch> stretches_;  ///< of the current piece
  std::unordered_multimap<uint64_t, size_t> by_hash_;
  size_t current_ = kNone;
  size_t before_ = kNone;
  Stretch learned_;
  std::unordered_map<uint64_t, uint32_t> open_;  ///< while learning: by request
  uint64_t first_event_ = 0;                     ///< likewise
  bool can_be_known_ = true;                     ///< for the stretch that is being learned
  Block block_;
  int credit_ = kMostCredit;
  int pause_ = 0;
};

}  // namespace rubato
