#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "replay/calls/loop_cache.h"
#include "tests/unit/stored_calls.h"

using namespace rubato;

namespace {

enum Name : int32_t {
  kIrecv,
  kIsend,
  kWaitall,
  kSend,
  kRecv,
  kAllreduce,
  kTest,
  kTestany,
  kFunction
};

enum Kind : uint64_t {
  kEnter,
  kLeave,
  kSendRecord,
  kIsendRecord,
  kIsendDone,
  kIrecvPosted,
  kRecvRecord,
  kIrecvDone,
  kCollective,
  kMetric,
  kSwitch,  ///< not a plain record: measurement switched off or on
};

struct Recorded {
  PlainRecord record;
  PlainRecord::Request role = PlainRecord::Request::kNone;
  uint64_t event = 0;
  uint64_t time = 0;
  uint64_t request = 0;
};

TraceDefinitions definitions() {
  return four_ranks_with({"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Send", "MPI_Recv",
                          "MPI_Allreduce", "MPI_Test", "MPI_Testany"});
}

/// Records of a program with a loop of `kinds` different iterations; with `odd`, sometimes with
/// rare operations.
class Program {
 public:
  Program(unsigned seed, uint32_t kinds, bool odd) : random_(seed), kinds_(kinds), odd_(odd) {}

  std::vector<Recorded> turns(int count) {
    for (int i = 0; i < count; ++i) turn(static_cast<uint32_t>(i) % kinds_);
    return std::move(records_);
  }

  /// With one receive open all the time: so many sends, each with 100 unsuccessful tests and one
  /// that completes it; with `odd`, up to 300.
  std::vector<Recorded> polls(int sends) {
    post_receive();
    const uint64_t receive = last_request_;
    for (int i = 0; i < sends; ++i) {
      enter(kIsend);
      const uint64_t send = request();
      add({kIsendRecord, 1, 8}, PlainRecord::Request::kOpens, send);
      leave(kIsend);
      for (uint32_t left = odd_ ? below(300) : 100; left > 0; --left) poll();
      enter(kTest);
      add({kIsendDone}, PlainRecord::Request::kCompletes, send);
      leave(kTest);
    }
    enter(kWaitall);
    add({kIrecvDone, 1, 8}, PlainRecord::Request::kCompletes, receive);
    leave(kWaitall);
    return std::move(records_);
  }

 private:
  void post_receive() {
    enter(kIrecv);
    add({kIrecvPosted}, PlainRecord::Request::kOpens, request());
    leave(kIrecv);
  }

  void poll() {
    const Name name = rarely() ? kTestany : kTest;
    enter(name);
    if (rarely()) add({kMetric});
    leave(name);
    if (!rarely()) return;
    const uint32_t what = below(4);
    if (what == 0) {
      add({kSwitch, 0});
      add({kSwitch, 1});
    } else if (what == 1) {
      enter(kFunction);
      leave(kFunction);
    } else if (what == 2) {
      post_receive();
    } else {
      leave(kTest);  // of nothing
    }
  }

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool rarely() { return odd_ && below(40) == 0; }

  void turn(uint32_t kind) {
    const uint32_t messages = 1 + kind % 3;
    const uint64_t bytes = rarely() ? 77 : 8 + kind;
    std::vector<uint64_t> receives, sends;
    for (uint32_t i = 0; i < messages; ++i) {
      enter(kIrecv);
      receives.push_back(request());
      add({kIrecvPosted}, PlainRecord::Request::kOpens, receives.back());
      leave(kIrecv);
    }
    if (rarely()) add({kMetric});
    for (uint32_t i = 0; i < messages; ++i) {
      enter(kIsend);
      sends.push_back(request());
      add({kIsendRecord, i, bytes}, PlainRecord::Request::kOpens, sends.back());
      leave(kIsend);
    }
    for (uint32_t polls = rarely() ? below(4) : 0; polls > 0; --polls) {
      enter(kTest);
      leave(kTest);
    }
    enter(kWaitall);
    if (odd_ && below(3) == 0) std::shuffle(receives.begin(), receives.end(), random_);
    if (rarely()) receives.push_back(request());  // its post is not recorded
    if (rarely()) sends.pop_back();               // its completion is not
    for (const uint64_t each : receives)
      add({kIrecvDone, 1, bytes}, PlainRecord::Request::kCompletes, each);
    for (const uint64_t each : sends) add({kIsendDone}, PlainRecord::Request::kCompletes, each);
    leave(kWaitall);
    if (rarely()) {
      add({kSwitch, 0});
      add({kSwitch, 1});
    }
    if (rarely()) {
      enter(kFunction);
      leave(kFunction);
    }
    enter(kSend);
    add({kSendRecord, 2, bytes});
    leave(kSend);
    if (rarely()) add({kSendRecord, 3, bytes});  // outside of any call
    enter(kRecv);
    add({kRecvRecord, 2, bytes});
    leave(kRecv);
    enter(kAllreduce);
    add({kCollective, 0, bytes, bytes});
    leave(kAllreduce);
  }

  uint64_t request() {
    if (rarely()) return last_request_ - below(3);  // one that may be open still
    return last_request_ += rarely() ? 1000 : 1;
  }
  void enter(Name name) { add({kEnter, static_cast<uint64_t>(name)}); }
  void leave(Name name) { add({kLeave, static_cast<uint64_t>(name)}); }
  void add(const PlainRecord& record, PlainRecord::Request role = PlainRecord::Request::kNone,
           uint64_t request = 0) {
    time_ += rarely() ? 1000000 : 1 + below(200);
    if (odd_ && below(200) == 0) time_ -= 300;
    event_ += rarely() ? 3 : 1;  // some records may be nothing to anybody
    records_.push_back({record, role, event_, time_, request});
  }

  std::mt19937 random_;
  uint32_t kinds_;
  bool odd_;
  std::vector<Recorded> records_;
  uint64_t last_request_ = 100;
  uint64_t time_ = 5000;
  uint64_t event_ = 0;
};

constexpr uint64_t kOrigin = 1000;

void give(CallBuilder& builder, const PlainRecord& record, uint64_t event, uint64_t raw_time,
          uint64_t request) {
  const auto time = static_cast<double>(raw_time - kOrigin);
  const auto where = static_cast<int32_t>(record.where);
  const int32_t call = where == kFunction ? -1 : where;
  switch (record.what) {
    case kEnter:
      return builder.enter(event, time, call);
    case kLeave:
      return builder.leave(event, time, call);
    case kSendRecord:
      return builder.send(event, time, 0, where, 5, record.sent);
    case kIsendRecord:
      return builder.isend(event, time, 0, where, 6, record.sent, request);
    case kIsendDone:
      return builder.isend_complete(event, time, request);
    case kIrecvPosted:
      return builder.irecv_request(event, time, request, 0);
    case kRecvRecord:
      return builder.recv(event, time, 0, where, 5, record.sent, 0);
    case kIrecvDone:
      return builder.irecv(event, time, 0, where, 6, record.sent, request);
    case kCollective:
      return builder.collective_end(event, time, CollectiveOp::kAllreduce, 0, kNoRoot, record.sent,
                                    record.received);
    case kMetric:
      return builder.other(event, time);
    case kSwitch:
      return builder.measurement(event, time, record.where != 0);
  }
}

/// All calls that are pending.
void store_calls(CallBuilder& builder, CallStore& store) {
  Block block;
  while (builder.take(block)) store.append(0, block);
}

struct Outcome {
  std::vector<std::vector<uint64_t>> calls;
  uint64_t records = 0;  ///< as the builder counts them
  uint64_t never_completed = 0;
  uint64_t backwards = 0;  ///< records before the one before them
  std::string first_backwards;
  size_t built = 0;  ///< records that the builder got
};

Outcome outcome_of(const CallBuilder& builder, CallStore& store, size_t built) {
  return {stored_calls(store, 0),    builder.records(),         builder.open_receives().count,
          builder.backwards().count, builder.backwards().first, built};
}

Outcome directly(const std::vector<Recorded>& records) {
  const TraceDefinitions trace = definitions();
  CallBuilder builder(trace, 0, std::make_shared<RequestBook>());
  CallStore store(1, false);
  for (const Recorded& r : records) {
    give(builder, r.record, r.event, r.time, r.request);
    store_calls(builder, store);
  }
  builder.finish();
  store_calls(builder, store);
  store.close(0);
  return outcome_of(builder, store, records.size());
}

Outcome in_stretches(const std::vector<Recorded>& records) {
  const TraceDefinitions trace = definitions();
  CallBuilder builder(trace, 0, std::make_shared<RequestBook>());
  CallStore store(1, false);
  size_t built = 0;
  LoopCache stretches(
      builder, store, 0, kOrigin,
      [&](const PlainRecord& record, uint64_t event, uint64_t time, uint64_t request) {
        ++built;
        give(builder, record, event, time, request);
      });
  for (const Recorded& r : records) {
    if (r.record.what == kSwitch) {
      stretches.interrupt();
      give(builder, r.record, r.event, r.time, r.request);
    } else if (!stretches.is_expected(r.record, r.role, r.event, r.time, r.request)) {
      stretches.record(r.record, r.role, r.event, r.time, r.request);
    }
    if (stretches.is_idle()) store_calls(builder, store);
  }
  stretches.finish();
  builder.finish();
  store_calls(builder, store);
  store.close(0);
  return outcome_of(builder, store, built);
}

void require_same(const Outcome& a, const Outcome& b) {
  REQUIRE(a.calls.size() == b.calls.size());
  for (size_t i = 0; i < a.calls.size(); ++i) {
    CAPTURE(i);
    REQUIRE(a.calls[i] == b.calls[i]);
  }
  CHECK(a.records == b.records);
  CHECK(a.never_completed == b.never_completed);
  CHECK(a.backwards == b.backwards);
  CHECK(a.first_backwards == b.first_backwards);
}

}  // namespace

TEST_CASE("a loop becomes the same calls, and hardly any record has to be looked at") {
  // 3000 turns of 1 to 3 messages each way: 9 to 13 calls, of 3 units of 2 bytes, so 12 KiB of them
  // hold 160 turns or more, and some 25 pieces all. At the start of each a turn of every kind is
  // looked at, 7 * 40 records or less, of the 4800 or more that it holds: at most 1 in 17. (An odd
  // piece may begin within a turn: twice that.)
  const uint32_t kinds = GENERATE(1u, 2u, 7u);
  CAPTURE(kinds);
  const std::vector<Recorded> records = Program(1, kinds, false).turns(3000);
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  CHECK(outcome.built < records.size() / 8);
}

TEST_CASE("what is odd in a loop becomes the same calls, too") {
  const unsigned seed = GENERATE(range(1u, 21u));
  CAPTURE(seed);
  const std::vector<Recorded> records = Program(seed, 1 + seed % 4, true).turns(400);
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
}

TEST_CASE("a clock that runs backwards in a loop is reported") {
  // A turn with one message each way: Irecv, Isend, Waitall, Send, Recv and Allreduce, so 12 enters
  // and leaves, and 7 other records. In one turn each of them in turn is 5 ticks before the one
  // before it.
  const size_t turn = 19;
  std::vector<Recorded> records = Program(1, 1, false).turns(100);
  REQUIRE(records.size() == 100 * turn);
  const size_t at = 50 * turn + GENERATE(range(size_t{0}, size_t{19}));
  CAPTURE(at);
  records[at].time = records[at - 1].time - 5;
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  CHECK(outcome.backwards == 1);
  CHECK_THAT(outcome.first_backwards,
             Catch::Contains("event " + std::to_string(records[at].event)));
  CHECK(outcome.built < records.size() / 4);
}

TEST_CASE("polls are expected while a receive is open") {
  // The builder gets the receive's post (3 records) and completion (3); of each send its post (3),
  // the first 5 polls (10), as it expects more behind 4, and the test that completes it (3).
  const std::vector<Recorded> records = Program(1, 0, false).polls(40);
  REQUIRE(records.size() == 3 + 40 * (3 + 200 + 3) + 3);
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  CHECK(outcome.built == 3 + 40 * (3 + 10 + 3) + 3);
}

TEST_CASE("what is odd among polls becomes the same calls, too") {
  const unsigned seed = GENERATE(range(1u, 21u));
  CAPTURE(seed);
  const std::vector<Recorded> records = Program(seed, 0, true).polls(60);
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  CHECK(outcome.built < records.size());
}

TEST_CASE("a run of polls that is no wait ends where it would have without the cache") {
  // 65536 polls are spinning, whatever comes behind them; the next one begins another run.
  std::vector<Recorded> records;
  for (uint64_t event = 1; event <= 2 * 70000; ++event) {
    const PlainRecord record{event % 2 ? uint64_t{kEnter} : uint64_t{kLeave}, kTest};
    records.push_back({record, PlainRecord::Request::kNone, event, 2000 + 10 * event});
  }
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  // Behind the begin of the records; the sixth word of a call has its flags.
  CHECK((outcome.calls[1 + 65535][5] & kSpinning) == kSpinning);
  CHECK((outcome.calls[1 + 65537][5] & kSpinning) == 0);
  CHECK(outcome.built < records.size() / 8);
}

TEST_CASE("a request that is used again before it completed is no loop") {
  // Two sends with a request each; and a turn later both with the same one: its first completion
  // ends the second of them, as the builder has it, and the other one means nothing. Calls: two
  // Isends and a Waitall with one wait for a send.
  std::vector<Recorded> records;
  uint64_t event = 0, request = 10;
  for (int turn = 0; turn < 6; ++turn) {
    const uint64_t first = ++request;
    const uint64_t second = turn == 4 ? first : ++request;
    const auto add = [&](const PlainRecord& record, PlainRecord::Request role, uint64_t of) {
      ++event;
      records.push_back({record, role, event, 2000 + 10 * event, of});
    };
    using Role = PlainRecord::Request;
    for (const uint64_t of : {first, second}) {
      add({kEnter, kIsend}, Role::kNone, 0);
      add({kIsendRecord, 1, 8}, Role::kOpens, of);
      add({kLeave, kIsend}, Role::kNone, 0);
    }
    add({kEnter, kWaitall}, Role::kNone, 0);
    add({kIsendDone}, Role::kCompletes, first);
    add({kIsendDone}, Role::kCompletes, second);
    add({kLeave, kWaitall}, Role::kNone, 0);
  }
  const Outcome outcome = in_stretches(records);
  require_same(directly(records), outcome);
  // The begin of the records, then 3 calls a turn; the third one's second word counts its actions.
  CHECK(outcome.calls[1 + 3 * 3 + 2][1] == 2);
  CHECK(outcome.calls[1 + 4 * 3 + 2][1] == 1);
  CHECK(outcome.built < records.size());
}
