// Receives, and whatever else is known at its completion only, that stay open while much else is
// done: the calls behind them go into the store, and what they are comes later (late_actions.h).

#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "replay/archive/archive.h"
#include "replay/calls/call_builder.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"
#include "tests/unit/ends.h"
#include "tests/unit/stored_calls.h"

using namespace rubato;

namespace {

enum Name : int32_t { kIrecv, kIsend, kIalltoallv, kPready, kWait, kTest, kSend, kFree };

TraceDefinitions definitions() {
  return four_ranks_with({"MPI_Irecv", "MPI_Isend", "MPI_Ialltoallv", "MPI_Pready", "MPI_Wait",
                          "MPI_Test", "MPI_Send", "MPI_Request_free"});
}

/// Gives a rank's records to a builder and its calls to a store.
class Rank {
 public:
  explicit Rank(size_t memory = 0) : store_(1, false, memory) {}
  CallBuilder& builder() { return builder_; }

  /// A call with a record inside; times go on by a tick each.
  template <typename... Arguments>
  void call(Name name, void (CallBuilder::*record)(uint64_t, double, Arguments...),
            std::type_identity_t<Arguments>... arguments) {
    builder_.enter(event_ + 1, time(1), name);
    (builder_.*record)(event_ + 2, time(2), arguments...);
    builder_.leave(event_ + 3, time(3), name);
    event_ += 3;
  }
  void take() {
    while (builder_.take(block_)) {
      open_ += builder_.late().open.size();
      settled_ += builder_.late().settled.size();
      store_.append(0, block_, builder_.late());
    }
  }
  std::vector<std::vector<uint64_t>> end() {
    builder_.finish();
    take();
    store_.close(0);
    return stored_calls(store_, 0);
  }
  /// Bytes of calls and actions that the builder holds.
  size_t held() {
    return builder_.pending().calls.size() * sizeof(Call) +
           builder_.pending().actions.size() * sizeof(Action);
  }
  size_t open() const { return open_; }  ///< actions that were handed out before they were known
  size_t settled() const { return settled_; }

 private:
  double time(uint64_t ahead) const { return static_cast<double>(event_ + ahead); }

  TraceDefinitions trace_ = definitions();
  CallBuilder builder_{trace_, 0, std::make_shared<RequestBook>()};
  CallStore store_;
  Block block_;
  uint64_t event_ = 0;
  size_t open_ = 0;
  size_t settled_ = 0;
};

/// A rank that opens and completes requests at random, a few of them much later than others, and
/// all else that may become of requests.
class Program {
 public:
  Program(unsigned seed, Rank& rank) : random_(seed), rank_(rank) {}

  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      step();
      if (below(50) == 0) rank_.take();
    }
  }

 private:
  enum class Kind { kReceive, kSend, kPartitioned, kCollective };
  struct Open {
    Kind kind;
    uint64_t request;
    bool is_long;
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  int32_t peer() { return static_cast<int32_t>(below(4)); }

  void step() {
    const uint32_t what = below(10);
    if (open_.size() < 40 && what < 4) return start(static_cast<Kind>(what));
    if (what < 7 && !open_.empty()) return complete(below(static_cast<uint32_t>(open_.size())));
    rank_.call(kSend, &CallBuilder::send, 0, peer(), below(2), below(3));
  }

  void start(Kind kind) {
    uint64_t request = ++last_request_;
    // One that is under way: whatever it was for is given up.
    const auto same = std::find_if(open_.begin(), open_.end(),
                                   [&](const Open& each) { return each.kind == kind; });
    if (below(60) == 0 && same != open_.end()) {
      request = same->request;
      open_.erase(same);
    }
    open_.push_back({kind, request, below(4) == 0});
    switch (kind) {
      case Kind::kReceive:
        return rank_.call(kIrecv, &CallBuilder::irecv_request, request,
                          static_cast<uint8_t>(below(2) ? kAnySource : 0));
      case Kind::kSend:
        return rank_.call(kIsend, &CallBuilder::isend, 0, peer(), below(2), below(3), request,
                          static_cast<uint8_t>(below(5) ? 0 : kSynchronous));
      case Kind::kPartitioned:
        return rank_.call(kIsend, &CallBuilder::isend, 0, peer(), below(2), below(3), request,
                          kPartitioned);
      case Kind::kCollective:
        return rank_.call(kIalltoallv, &CallBuilder::icollective_request, request, 0);
    }
  }

  void complete(uint32_t index) {
    const Open open = open_[index];
    if (open.kind == Kind::kPartitioned && below(2))
      return rank_.call(kPready, &CallBuilder::partition_ready, open.request);
    if (open.kind == Kind::kReceive && below(4) == 0)
      return rank_.call(kTest, &CallBuilder::request_test, open.request);
    if (open.is_long && below(40) > 0) return;
    open_.erase(open_.begin() + index);
    const bool is_cancelled = open.kind != Kind::kCollective && below(10) == 0;
    if (is_cancelled)
      return rank_.call(below(3) ? kWait : kFree, &CallBuilder::cancelled, open.request);
    switch (open.kind) {
      case Kind::kReceive:
        return rank_.call(kWait, &CallBuilder::irecv, 0, peer(), below(2), below(3), open.request);
      case Kind::kSend:
      case Kind::kPartitioned:
        return rank_.call(kWait, &CallBuilder::isend_complete, open.request);
      case Kind::kCollective:
        if (below(5) == 0) return rank_.call(kWait, &CallBuilder::icollective_kept, open.request);
        return rank_.call(kWait, &CallBuilder::icollective_complete, CollectiveOp::kAlltoallv, 0,
                          kNoRoot, below(2), below(2), open.request);
    }
  }

  std::mt19937 random_;
  Rank& rank_;
  std::vector<Open> open_;
  uint64_t last_request_ = 0;
};

}  // namespace

TEST_CASE("an open receive delays little, whatever follows it") {
  // A send is a call of 48 bytes and an action of 32: 100000 of them are 8 MB. Checked after every
  // 300 of them, like the builder after 4096 records: the memory is at most the limit, a kilobyte
  // for the open receive, and the last 300.
  Rank rank;
  rank.builder().release_open_actions();
  rank.call(kIrecv, &CallBuilder::irecv_request, 7, uint8_t{0});
  size_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    rank.call(kSend, &CallBuilder::send, 0, 1, 5, 8);
    if (i % 300 > 0) continue;
    most = std::max(most, rank.held());
    rank.take();
  }
  CHECK(most > 100000);  // it waited for the receive
  CHECK(most <= CallBuilder::kMostHeld + CallBuilder::kHeldForOpen + 300 * 80);
  rank.call(kWait, &CallBuilder::irecv, 0, 3, 9, 64, 7);
  const auto calls = rank.end();
  CHECK(rank.open() == 1);
  CHECK(rank.settled() == 1);
  // The begin, the receive, what came behind it, its end, and the end of all.
  REQUIRE(calls.size() == 100004);
  // Its action follows the eight words of a call.
  std::array<uint64_t, 4> words;
  std::copy_n(calls[1].begin() + 8, 4, words.begin());
  const auto post = std::bit_cast<Action>(words);
  CHECK(post.kind == ActionKind::kPost);
  CHECK(post.message.peer == 3);
  CHECK(post.message.tag == 9);
  CHECK(post.message.bytes == 64);
}

TEST_CASE("a receive that completes soon is never released") {
  Rank rank;
  rank.builder().release_open_actions();
  for (uint64_t i = 0; i < 30000; ++i) {
    rank.call(kIrecv, &CallBuilder::irecv_request, 7, uint8_t{0});
    rank.call(kSend, &CallBuilder::send, 0, 1, 5, 8);
    if (i % 100 == 0) rank.take();
    rank.call(kWait, &CallBuilder::irecv, 0, 3, 9, 64, 7);
  }
  rank.end();
  CHECK(rank.open() == 0);
}

// As soon as there is more than a kilobyte for each open action, or than 20000 bytes besides; the
// store's pieces in memory, or written out one by one. Sends are held back as in ranks that cancel
// some.
TEST_CASE("released actions equal those of a complete receive in the end") {
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  const bool hold_sends = seed % 2;
  CAPTURE(seed);
  Rank waits;
  if (hold_sends) waits.builder().hold_sends();
  Program(seed, waits).run(20000);
  const auto expected = waits.end();
  CHECK(waits.open() == 0);
  for (const size_t most : {size_t{0}, size_t{20000}}) {
    for (const size_t memory : {size_t{0}, size_t{1} << 26}) {
      Rank lets_go(memory);
      if (hold_sends) lets_go.builder().hold_sends();
      lets_go.builder().release_open_actions(most);
      Program(seed, lets_go).run(20000);
      const auto calls = lets_go.end();
      CHECK(lets_go.open() > 50);
      CHECK(lets_go.open() == lets_go.settled());
      REQUIRE(calls.size() == expected.size());
      for (size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        REQUIRE(calls[i] == expected[i]);
      }
      CHECK(lets_go.builder().open_receives().count == waits.builder().open_receives().count);
      CHECK(lets_go.builder().open_receives().first == waits.builder().open_receives().first);
      CHECK(lets_go.builder().open_collectives().count == waits.builder().open_collectives().count);
      CHECK(lets_go.builder().open_collectives().first == waits.builder().open_collectives().first);
    }
  }
}

TEST_CASE("bytes of a file of calls are written over wherever they are") {
  // Pieces of 1000 bytes: the first stays in memory, which has space for one; then more than the 1
  // MiB that is written at a time, and the last few, which wait to be written.
  CallFile file(1500);
  std::vector<uint64_t> places;
  for (int i = 0; i < 1200; ++i)
    places.push_back(file.append(std::vector<std::byte>(1000, static_cast<std::byte>(i % 7))));
  for (const int i : {0, 1, 600, 1199}) {
    CAPTURE(i);
    const std::vector<std::byte> ours(3, std::byte{99});
    file.overwrite(places[i] + 500, ours);
    std::vector<std::byte> piece(1000);
    if (const std::byte* kept = file.kept_at(places[i])) {
      CHECK(i == 0);
      std::copy_n(kept, piece.size(), piece.begin());
    } else {
      file.read(places[i], piece);
    }
    std::vector<std::byte> expected(1000, static_cast<std::byte>(i % 7));
    std::fill_n(expected.begin() + 500, 3, std::byte{99});
    CHECK(piece == expected);
  }
  // Neighbours are as they were.
  std::vector<std::byte> next(1000);
  file.read(places[601], next);
  CHECK(next == std::vector<std::byte>(1000, std::byte{601 % 7}));
}

// Rank 0 posts two receives, and waits for them in the other order behind n reductions that rank 1
// is in, too. 80 bytes of each call and its action are more than is held back. On `perfect` only
// compute takes time: 10 before each call, 50 before the first reduction on rank 1 and 500 before
// its messages.
//
//   rank 1   is in the first reduction at 50, in the n-th at 40 + 10 n, and sends at 540 + 10 n
//   rank 0   posts at 10 and 20, comes to each reduction first or as soon (30 < 50), waits from
//            50 + 10 n to 540 + 10 n, and finds the other message at 550 + 10 n; it ends 10 later
//
// after their begin at 1000, where the clock offsets of the archive put time 0.
TEST_CASE("receives that are open for a whole archive match their messages") {
  constexpr uint64_t n = 8000;
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    const bool receives = location.id == 0;
    uint64_t now = 0;
    const auto call = [&](Region region, const std::function<void()>& record) {
      OTF2_EvtWriter_Enter(writer, nullptr, now += 10, region);
      now += 5;
      record();
      OTF2_EvtWriter_Leave(writer, nullptr, now += 5, region);
    };
    OTF2_EvtWriter_Enter(writer, nullptr, 0, kFunction);
    OTF2_EvtWriter_Leave(writer, nullptr, 0, kFunction);
    for (const uint64_t request : {1, 2}) {
      if (!receives) break;
      call(kMpiIrecv, [&] { OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, now, request); });
    }
    now = 40;
    for (uint64_t i = 0; i < n; ++i) {
      call(kMpiAllreduce, [&] {
        OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, now, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                        OTF2_UNDEFINED_UINT32, 8, 8);
      });
    }
    if (!receives) {
      now += 490;
      call(kMpiSend, [&] {
        OTF2_EvtWriter_MpiSend(writer, nullptr, now, 0, 0, 5, 64);
        OTF2_EvtWriter_MpiSend(writer, nullptr, now, 0, 0, 6, 80);
      });
      return;
    }
    for (const uint64_t request : {2, 1}) {
      call(kMpiWait, [&] {
        if (request == 2) now += 700;
        OTF2_EvtWriter_MpiIrecv(writer, nullptr, now, 1, 0, request == 1 ? 5 : 6,
                                request == 1 ? 64 : 80, request);
      });
    }
    OTF2_EvtWriter_Enter(writer, nullptr, now += 10, kFunction);
    OTF2_EvtWriter_Leave(writer, nullptr, now, kFunction);
  };
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "run";
  write_archive(what, path);
  ReplayOptions options;
  options.verify = GENERATE(false, true);
  const Results results =
      run_replay(path, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  if (options.verify) CHECK(results.identity->differing == 0);
  CHECK(results.trace.messages == 2);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  check_ends(results.scenarios[1], {1560 + 10 * n, 1540 + 10 * n});
}

TEST_CASE("a cleared file is reused from its beginning") {
  CallFile file(100);
  const auto piece = [](int size, int value) {
    return std::vector<std::byte>(size, static_cast<std::byte>(value));
  };
  const uint64_t kept = file.append(piece(64, 1));
  for (int i = 0; i < 3000; ++i) file.append(piece(1000, 2));  // more than is written at once
  file.clear();
  CHECK(file.append(piece(64, 3)) == kept);
  REQUIRE(file.kept_at(kept));
  CHECK(*file.kept_at(kept) == std::byte{3});
  std::vector<uint64_t> places;
  for (int i = 0; i < 3000; ++i) places.push_back(file.append(piece(1000, i % 7)));
  CHECK(places[0] == 100);
  for (const int i : {0, 1500, 2999}) {
    std::vector<std::byte> read(1000);
    file.read(places[i], read);
    CHECK(read == piece(1000, i % 7));
  }
}
