#include "tracer/report/step_records.h"

#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tracer/report/run_tables.h"

using namespace rubato;

namespace step_records_test {
namespace {

constexpr int kWorldRanks[] = {0, 1, 2};
constexpr int kHalfRanks[] = {1, 2};

/// Rank 1 of 3; communicator 2 holds ranks 1 and 2.
CommunicatorView communicator(uint32_t id) {
  CommunicatorView view;
  view.identity = 0xab0 + id;
  view.member = id == 0 ? Membership{1, 3, false} : Membership{0, 2, false};
  view.peers = id == 0 ? kWorldRanks : kHalfRanks;
  view.size = view.member.peers;
  view.own = 1;
  return view;
}
constexpr LocalObjects kObjects = {communicator, [](uint32_t) -> uint32_t { return 0; }};

const char* name_of_call(unsigned id) {
  static const char* const kNames[] = {"MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Irecv",
                                       "MPI_Wait", "MPI_Bcast",    "MPI_Put",  "MPI_Barrier"};
  return kNames[id];
}
enum : unsigned { kInit, kFinalize, kSend, kIrecv, kWait, kBcast, kPut, kBarrier };

constexpr double kTicksPerSecond = 1e9;  // a tick is a nanosecond

constexpr RunBounds kBounds = {kInit, kFirstMark, kFinalize};

struct Run {
  RunTables tables{kObjects};
  TimeSums sums{kBounds};
  FoldedThread thread;
  uint64_t now = 1000;

  /// `before`: since the call before.
  void call(unsigned id, uint64_t before, uint64_t inside,
            const std::vector<uint64_t>& items = {}) {
    now += before;
    record::Record r{id, now, now + inside, true,
                     record::Reader(items.data(), items.data() + items.size())};
    now += inside;
    tables.add(r, sums.add(r), thread);
  }
  std::string text(uint64_t stride) const {
    return tables.steps().text(stride, kTicksPerSecond, kObjects, name_of_call);
  }
};

std::vector<uint64_t> words(Item item, const Message& message) {
  uint64_t at[3];
  return {at, record::put_message(at, item, message)};
}
std::vector<uint64_t> word(Item item, uint64_t value) {
  uint64_t at;
  record::put(&at, item, value);
  return {at};
}
std::vector<uint64_t> collective(unsigned op, uint32_t comm, uint32_t root, uint64_t sent,
                                 uint64_t received) {
  return word(Item::kTinyCollective, CollectiveItem{op, comm, root, sent, received}.tiny());
}
std::vector<uint64_t> barrier() {
  return collective(OTF2_COLLECTIVE_OP_BARRIER, 0, UINT32_MAX, 0, 0);
}

/// Numbers of the steps in a text.
std::set<std::string> numbers(const std::string& text) {
  std::set<std::string> found;
  for (size_t at = text.find("step "); at != std::string::npos; at = text.find("step ", at + 1))
    found.insert(text.substr(at + 5, text.find(' ', at + 5) - at - 5));
  return found;
}

}  // namespace

TEST_CASE("the calls of a step are kept with the time before them") {
  Run run;
  run.call(kInit, 0, 500);
  run.call(kSend, 100, 10, words(Item::kSend, {0, 2, 7, 64}));
  auto posted = words(Item::kIrecvRequest, {2, 1, 8, 4096});
  run.call(kIrecv, 20, 5, posted);
  auto received = words(Item::kIrecv, {2, 1, 8, 128});
  received.push_back(1);  // the thread's first request
  run.call(kWait, 30, 40, received);
  run.call(kBcast, 1, 2, collective(OTF2_COLLECTIVE_OP_BCAST, 2, 1, 0, 16));
  run.call(kBarrier, 3, 4, barrier());
  run.call(kPut, 7, 8, word(Item::kRmaCollective, 0));
  run.call(kFinalize, 50, 60);
  // The first step lasts 100 + 10 + 20 + 5 + 30 + 40 + 1 + 2 + 3 + 4 = 215, the second one, until
  // MPI_Finalize, 7 + 8 + 50. Of communicator 2 this rank is the first member.
  // Keys as wait_samples.h has them: the first message of a channel.
  const auto key = [](uint64_t communicator, uint64_t from, uint64_t to, uint64_t tag) {
    const uint64_t whole = mixed(mixed(mixed(communicator, from << 32 | to), tag), 1);
    return std::to_string((whole ^ whole >> 32) & 0xffffffff);
  };
  CHECK(run.text(1) ==
        "step 0 215 0\n"
        "comm 0 0000000000000ab0\n"
        "MPI_Send 100 10 0 0 s:0,2,7,64," +
            key(0xab0, 1, 2, 7) +
            "\n"
            "MPI_Irecv 20 5 0 0 p:1\n"
            "comm 2 0000000000000ab2 1 2\n"
            "MPI_Wait 30 40 0 0 g:2,2,8,128," +
            key(0xab2, 2, 1, 8) +
            ",1\n"
            "MPI_Bcast 1 2 0 0 c:bcast,2,1,0,16,0\n"
            "MPI_Barrier 3 4 0 0 c:barrier,0,0,0,0,0\n"
            "step 1 65 50\n"
            "MPI_Put 7 8 0 0 k:\n");
}

TEST_CASE("a collective of some ranks, or one without waits, ends no step") {
  Run run;
  run.call(kInit, 0, 500);
  run.call(kBarrier, 1, 1, collective(OTF2_COLLECTIVE_OP_BARRIER, 2, UINT32_MAX, 0, 0));
  run.call(kBarrier, 1, 1, collective(OTF2_COLLECTIVE_OP_ALLREDUCE, 0, UINT32_MAX, 0, 0));
  run.call(kBcast, 1, 1, collective(OTF2_COLLECTIVE_OP_BCAST, 0, 0, 0, 16));
  run.call(kFinalize, 1, 1);
  CHECK(numbers(run.text(1)) == std::set<std::string>{"0"});
}

TEST_CASE("of many steps a share is kept, the same on ranks with different calls") {
  // A call takes six words and one of its item: 2^18 words hold 37,449. Two ranks with 100,000
  // steps, one of them with twice the calls: its stride is at least 8, that of the other one 4.
  Run few, many;
  for (Run* run : {&few, &many}) run->call(kInit, 0, 500);
  for (int step = 0; step < 100000; ++step) {
    few.call(kBarrier, 10, 1, barrier());
    many.call(kSend, 5, 1, words(Item::kSend, {0, 2, 7, 64}));
    many.call(kBarrier, 5, 1, barrier());
  }
  for (Run* run : {&few, &many}) run->call(kFinalize, 1, 1);
  CHECK(few.tables.steps().stride() >= 4);
  const uint64_t stride = many.tables.steps().stride();
  CHECK(stride >= 8);
  const std::set<std::string> kept = numbers(many.text(stride));
  CHECK(kept == numbers(few.text(stride)));
  // A hash chooses: of 100,000 steps / stride, with a standard deviation of its root.
  const double expected = 100000.0 / static_cast<double>(stride);
  CHECK(std::abs(static_cast<double>(kept.size()) - expected) < 5 * std::sqrt(expected));
}

TEST_CASE("a step that needs half of the memory is left out, and summed up") {
  Run run;
  run.call(kInit, 0, 500);
  run.call(kBarrier, 10, 1, barrier());
  // 30,000 calls of six words exceed 2^17.
  for (int i = 0; i < 30000; ++i) run.call(kSend, 2, 3);
  run.call(kBarrier, 10, 1, barrier());
  run.call(kBarrier, 20, 2, barrier());
  run.call(kFinalize, 1, 1);
  // 30,000 * (2 + 3) + 11 long, 30,000 * 3 + 1 of that in 30,001 calls.
  const std::string text = run.text(1);
  CHECK(text.substr(0, text.find('\n')) == "left 1 150011 90001 30001");
  CHECK(numbers(text) == std::set<std::string>{"0", "2", "3"});
  CHECK(run.tables.steps().stride() == 1);
}

TEST_CASE("a step that is left out takes no space from others") {
  // Ten steps of 3000 calls of six words and a barrier of seven fill 180,070 of 2^18 = 262,144
  // words. The next one needs more than 2^17, and is left out. Two of the ten more are kept; with
  // the fifteenth all are more than 2^18.
  Run run;
  run.call(kInit, 0, 500);
  const auto step = [&](int calls) {
    for (int i = 0; i < calls; ++i) run.call(kSend, 2, 3);
    run.call(kBarrier, 10, 1, barrier());
  };
  for (int i = 0; i < 10; ++i) step(3000);
  step(30000);
  CHECK(run.tables.steps().stride() == 1);
  for (int i = 0; i < 2; ++i) step(3000);
  CHECK(run.tables.steps().stride() == 1);
  for (int i = 0; i < 3; ++i) step(3000);
  CHECK(run.tables.steps().stride() >= 2);
  run.call(kFinalize, 1, 1);
  CHECK(run.text(1).starts_with("left 10 "));
}

TEST_CASE("with too many ranks no step is kept") {
  // 2^22 words for 4097 ranks are less than 2^10 for each.
  StepRecords records;
  records.set_ranks(4097);
  const record::Record call{kSend, 10, 20, true, record::Reader(nullptr, nullptr)};
  for (int step = 0; step < 1000; ++step) {
    records.begin(5, 0);
    records.call(call, {TimeSums::Booked::kInside, 10, 0}, 10, FlatArray<uint64_t>(1));
    records.end(20);
  }
  CHECK(records.stride() == 1);  // there was nothing to thin out
  CHECK(records.text(1, kTicksPerSecond, kObjects, name_of_call).empty());
}

}  // namespace step_records_test
