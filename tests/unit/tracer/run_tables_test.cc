#include "tracer/report/run_tables.h"

#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "tracer/layout/send_mode.h"

using namespace rubato;

namespace {

enum : unsigned {
  kInitCall,
  kFinalizeCall,
  kSendCall,
  kIrecvCall,
  kWaitCall,
  kStartCall,
  kReadyCall
};

constexpr int kWorldRanks[] = {0, 1, 2, 3};
constexpr int kHalfRanks[] = {3, 1};

/// Rank 1 of 4; communicator 1 holds ranks 3 and 1.
CommunicatorView communicator(uint32_t id) {
  CommunicatorView view;
  view.identity = 100 + id;
  view.member = {1, id == 0 ? 4 : 2, false};
  view.peers = id == 0 ? kWorldRanks : kHalfRanks;
  view.size = view.member.peers;
  view.own = 1;
  return view;
}

/// Adds records of calls, 10 ticks long and 100 apart.
struct Folded {
  RunTables tables{{communicator, [](uint32_t) -> uint32_t { return 0; }}};
  TimeSums sums{{kInitCall, kFirstMark, kFinalizeCall}};
  FoldedThread main;
  uint64_t now = 100;

  void call(unsigned id, const std::vector<uint64_t>& items, uint64_t site = 0) {
    call(id, items, main, sums, site);
  }
  void call(unsigned id, const std::vector<uint64_t>& items, FoldedThread& thread, TimeSums& times,
            uint64_t site = 0) {
    record::Record r{id, now, now + 10, true,
                     record::Reader(items.data(), items.data() + items.size())};
    r.call_site = site;
    now += 100;
    tables.add(r, times.add(r), thread);
  }
  /// Count and bytes of the sends or receives of a call, over all sites and sizes.
  std::pair<uint64_t, uint64_t> moved(unsigned id, bool sends) const {
    std::pair<uint64_t, uint64_t> sum{0, 0};
    tables.for_each_size([&](size_t call, bool is_send, unsigned, const SizeSums& sizes) {
      if (tables.calls()[call].call != id || is_send != sends) return;
      sum.first += sizes.count;
      sum.second += sizes.bytes;
    });
    return sum;
  }
  uint64_t completed(unsigned id) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < tables.calls().size(); ++i)
      if (tables.calls()[i].call == id) sum += tables.calls()[i].bytes_completed;
    return sum;
  }
  std::map<int, PeerSums> peers() const {
    std::map<int, PeerSums> all;
    tables.for_each_peer([&](int rank, const PeerSums& peer) { all[rank] = peer; });
    return all;
  }
};

using Sums = std::pair<uint64_t, uint64_t>;

std::vector<uint64_t> words(Item item, const Message& message) {
  uint64_t at[3];
  return {at, record::put_message(at, item, message)};
}
std::vector<uint64_t> word(Item item, uint64_t value) {
  uint64_t at;
  record::put(&at, item, value);
  return {at};
}
std::vector<uint64_t> operator+(std::vector<uint64_t> a, const std::vector<uint64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE(
    "a nonblocking receive counts for the call that posts it, its bytes for the one that waits") {
  Folded f;
  f.call(kInitCall, {});
  f.call(kIrecvCall, words(Item::kIrecvRequest, {1, -1, 7, 1000}));
  f.call(kSendCall, words(Item::kSend, {1, 0, 5, 40}));
  CHECK(f.moved(kIrecvCall, false) == Sums{0, 0});
  f.call(kWaitCall, words(Item::kIrecv, {1, 0, 7, 600}) + std::vector<uint64_t>{1});
  CHECK(f.moved(kIrecvCall, false) == Sums{1, 600});
  CHECK(f.moved(kWaitCall, false) == Sums{0, 0});
  CHECK(f.completed(kWaitCall) == 600);
  CHECK(f.moved(kSendCall, true) == Sums{1, 40});
  // Rank 0 of the communicator is rank 3 of the world; the wait took 10 ticks.
  CHECK(f.peers().size() == 1);
  CHECK(f.peers()[3].sent_bytes == 40);
  CHECK(f.peers()[3].ticks == 10);
}

TEST_CASE("a completion may be added before its post, which is another thread's") {
  Folded f;
  FoldedThread other{1, 0};
  TimeSums times{{kInitCall, kFirstMark, kFinalizeCall}};
  f.call(kInitCall, {});
  const uint64_t number = uint64_t{1} << 40 | 1;
  f.call(kWaitCall, words(Item::kIrecv, {0, 2, 7, 64}) + std::vector<uint64_t>{number});
  CHECK(f.completed(kWaitCall) == 64);
  CHECK(f.moved(kIrecvCall, false) == Sums{0, 0});
  f.call(kIrecvCall, words(Item::kIrecvRequest, {0, 2, 7, 64}), other, times);
  f.tables.finish();
  CHECK(f.moved(kIrecvCall, false) == Sums{1, 64});
  CHECK(f.moved(kWaitCall, false) == Sums{0, 0});
  CHECK(f.tables.left_out().requests == 0);
}

TEST_CASE("a cancelled send is none; a receive whose post is not on record belongs to the wait") {
  Folded f;
  f.call(kInitCall, {});
  f.call(kSendCall, words(Item::kIsend, {0, 2, 7, 64}));
  f.call(kSendCall, words(Item::kIsend, {0, 2, 7, 8}));
  f.call(kWaitCall, word(Item::kRequestCancelled, 1) + word(Item::kIsendComplete, 2));
  CHECK(f.moved(kSendCall, true) == Sums{1, 8});
  CHECK(f.peers()[2].sent_bytes == 8);
  f.call(kWaitCall, words(Item::kIrecv, {0, 2, 7, 32}) + std::vector<uint64_t>{99});
  CHECK(f.moved(kWaitCall, false) == Sums{1, 32});
}

TEST_CASE("a partitioned message leaves in the call that makes its last partition ready") {
  Folded f;
  f.call(kInitCall, {});
  const uint64_t number = uint64_t{1} << 39 | 1;
  const uint64_t mode = static_cast<uint64_t>(SendMode::kPartitioned) << 56;
  f.call(kStartCall,
         words(Item::kIsendStart, {0, 2, 7, 80}) + std::vector<uint64_t>{number | mode});
  CHECK(f.moved(kStartCall, true) == Sums{0, 0});
  f.call(kReadyCall, word(Item::kRequestReady, number));
  f.call(kReadyCall, word(Item::kRequestReady, number));
  f.call(kWaitCall, word(Item::kIsendComplete, number));
  CHECK(f.moved(kReadyCall, true) == Sums{1, 80});
  CHECK(f.moved(kStartCall, true) == Sums{0, 0});
}

TEST_CASE("call sites are rows of their own, up to a limit, and calls before MPI_Init outside") {
  Folded f;
  f.call(kStartCall, {});
  f.call(kInitCall, {});
  for (uint64_t site = 0; site < 5000; ++site)
    f.call(kSendCall, words(Item::kSend, {0, 2, 7, 1}), 0x1000 + site);
  CHECK(f.moved(kSendCall, true) == Sums{5000, 5000});
  uint64_t calls = 0, others = 0;
  for (size_t i = 0; i < f.tables.calls().size(); ++i) {
    const CallSums& sums = f.tables.calls()[i];
    if (sums.call == kStartCall) {
      CHECK(sums.outside == 10);
      CHECK(sums.ticks == 0);
    }
    if (sums.call != kSendCall) continue;
    calls += sums.calls;
    if (sums.site == RunTables::kOtherSites) others = sums.calls;
    CHECK(sums.most == 10);
  }
  CHECK(calls == 5000);
  // 2000 rows, of which MPI_Init and the call before it have two.
  CHECK(others == 5000 - 1998);
}

TEST_CASE("the longest call is no shorter than the mean, though calls lacked cores") {
  Folded f;
  f.call(kInitCall, {});
  const ClockPair before = ClockPair::sample();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // until the rate is known
  const double ms = ticks_per_second(before, ClockPair::sample()) / 1000;
  // Calls of 1 ms, and of 9 ms of which 4 ms had no core: the mean is 3 ms, the longest takes 5 ms.
  for (const uint64_t stolen : {0, 4}) {
    const std::vector<uint64_t> items =
        stolen > 0 ? word(Item::kStolen, stolen * 1000000) : std::vector<uint64_t>{};
    record::Record r{kSendCall, f.now, f.now + static_cast<uint64_t>((2 * stolen + 1) * ms), true,
                     record::Reader(items.data(), items.data() + items.size())};
    f.tables.add(r, f.sums.add(r), f.main);
    f.now += 100 * static_cast<uint64_t>(ms);
  }
  for (size_t i = 0; i < f.tables.calls().size(); ++i) {
    const CallSums& sums = f.tables.calls()[i];
    if (sums.call != kSendCall) continue;
    CHECK(static_cast<double>(sums.least) == Approx(1 * ms).epsilon(0.01));
    CHECK(static_cast<double>(sums.most) == Approx(5 * ms).epsilon(0.01));
  }
}

TEST_CASE("a table keeps its values when it grows and when others are erased") {
  FlatTable<uint64_t> table(1 << 12);
  for (uint64_t i = 0; i < 3000; ++i) *table.put(i * i) = i;
  for (uint64_t i = 0; i < 3000; i += 3) table.erase(i * i);
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t* const value = table.find(i * i);
    if (i % 3 == 0)
      CHECK(value == nullptr);
    else
      REQUIRE((value != nullptr && *value == i));
  }
  CHECK(table.size() == 2000);
  // Three quarters of 4096 places.
  uint64_t more = 0;
  while (table.put(uint64_t{1} << 40 | more) != nullptr) ++more;
  CHECK(table.size() == 3072);
}

TEST_CASE("polls of one call and a probe are sampled with the message that they find") {
  Folded f;
  f.call(kInitCall, {});
  // The first receive of the channel is posted before; the probe finds the second message. Polls
  // at 300 and 400, another call, polls at 600 and 700, and a probe at 800 that finds something.
  f.call(kIrecvCall, words(Item::kIrecvRequest, {0, 2, 7, 64}));
  const auto probed = word(Item::kProbed, 0) + std::vector<uint64_t>{uint64_t{2} << 32 | 7};
  for (const unsigned id : {kReadyCall, kReadyCall, kSendCall, kReadyCall, kReadyCall})
    f.call(id, {});
  f.call(kReadyCall, probed);
  f.call(kWaitCall, words(Item::kRecv, {0, 2, 7, 64}));
  const std::vector<Sample> samples = f.tables.samples().take(1);
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].role == SampleRole::kProbe);
  CHECK(samples[0].enter == 800);
  CHECK(samples[0].posted == 810);
  // Two polls of 10 each.
  CHECK(samples[1].role == SampleRole::kProbe);
  CHECK(samples[1].enter == 600);
  CHECK(samples[1].leave == 710);
  CHECK(samples[1].posted == 620);
  CHECK(samples[2].role == SampleRole::kReceive);
  for (const Sample& each : samples) CHECK(each.key == samples[2].key);
}
