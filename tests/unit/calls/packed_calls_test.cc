#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>

#include "models/base/error.h"
#include "replay/store/call_store.h"

using namespace rubato;

namespace {

/// A block of calls like a program's: a loop over a few kinds of call, now and then something odd;
/// with their records or without.
class Program {
 public:
  explicit Program(unsigned seed, bool odd, bool with_records = true)
      : random_(seed), odd_(odd), with_records_(with_records) {}

  Block block(size_t calls) {
    Block block;
    while (block.calls.size() < calls) {
      add(block);
      const bool repeats = block.calls.back().actions == 0;
      for (uint32_t i = repeats ? below(4) : 0; i > 0 && block.calls.size() < calls; --i)
        add_alike(block);
    }
    return block;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool rarely() { return odd_ && below(7) == 0; }

  void add(Block& block) {
    Call call;
    time_ += rarely() ? -13.0 : rarely() ? 1e13 + 0.5 : below(3) == 0 ? below(1 << 30) : below(900);
    call.enter = time_;
    time_ += rarely() ? 5e9 : below(70000);
    call.leave = time_;
    event_before_ = event_;
    event_ += rarely() ? 1000 : 3;
    call.event = event_;
    call.first_action = static_cast<uint32_t>(block.actions.size());
    call.actions = rarely() ? 700 : below(4);
    call.first_record = static_cast<uint32_t>(block.records.size());
    call.function_records = rarely() ? 2 : 0;
    call.name = static_cast<uint16_t>(rarely() ? 65000 : below(20));
    call.role = rarely() ? CallRole::kOff : CallRole::kMpi;
    for (uint32_t i = 0; i < call.actions; ++i) block.actions.push_back(action());
    for (uint32_t i = with_records_ ? below(4) : 0; i > 0; --i)
      block.records.push_back({time_, static_cast<RecordPhase>(below(3))});
    block.calls.push_back(call);
  }

  /// A call that does nothing, like the last one; with more records before it, where odd.
  void add_alike(Block& block) {
    Call call = block.calls.back();
    const uint64_t records = event_ - event_before_;
    event_before_ = event_;
    call.event = event_ += rarely() ? 1000 : records;
    call.enter = time_ += below(900);
    call.leave = time_ += below(70000);
    call.first_record = static_cast<uint32_t>(block.records.size());
    block.calls.push_back(call);
  }

  Action action() {
    Action action;
    action.comm = below(2);
    const auto peer = static_cast<int32_t>(below(4));
    const uint64_t bytes = rarely() ? uint64_t{1} << 40 : below(3);
    if (below(5) == 0) {
      action.kind = ActionKind::kCollective;
      action.collective = {
          .root = peer, .order = rarely() ? 70000u : 0u, .sent = bytes, .received = 8};
      return action;
    }
    if (below(8) == 0) {
      const uint32_t number = rarely() ? 70000 : below(9);
      if (below(2)) {
        action.kind = ActionKind::kStartCollective;
        action.start = {.root = peer,
                        .slot = below(9),
                        .payload = bytes,
                        .persistent = static_cast<uint32_t>(bytes),
                        .order = number == 70000 ? number : 0};
      } else {
        action.kind = ActionKind::kWaitCollective;
        action.collective = {.root = peer,
                             .slot = number,
                             .sent = bytes,
                             .received = rarely() ? uint64_t{1} << 40 : 8};
      }
      return action;
    }
    action.flags = static_cast<uint8_t>((below(2) ? kBlocking : 0) | (below(4) ? 0 : kInBurst) |
                                        (below(8) ? 0 : kInBurst | kSecondOfBurst));
    const uint32_t slot = rarely() ? 1000000 + below(5) : below(3) ? below(12) : kNoSlot;
    const uint32_t order = rarely() ? 90000 : 0;
    if (below(2)) {
      action.kind = ActionKind::kSend;
      action.message = {
          .peer = peer, .slot = slot, .bytes = bytes, .tag = below(2), .order = order};
    } else if (below(4)) {
      action.kind = ActionKind::kWaitReceive;
      action.request = {.slot = slot, .bytes = bytes};
    } else if (below(2)) {
      action.kind = ActionKind::kOneSided;
      action.one_sided = {.target = peer, .slot = slot, .bytes = bytes};
    } else {
      action.kind = ActionKind::kEpoch;
      action.epoch = {.peer = peer, .step = static_cast<EpochStep>(below(4)), .order = order};
    }
    return action;
  }

  std::mt19937 random_;
  bool odd_;
  bool with_records_;
  double time_ = -1e6;
  uint64_t event_ = 0;
  uint64_t event_before_ = 0;  ///< of the call before
};

template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Compares everything but the places of actions and records in their blocks, and the field in
/// which actions that are shared say whether they have a request.
void require_same(const Block& in, size_t call, Block& out, size_t other) {
  const Call& a = in.calls[call];
  const Call& b = out.calls[other];
  out.take_up(b);
  for (uint32_t i = 0; i < a.actions && i < b.actions; ++i) {
    Action action = out.actions_of(b)[i];
    action.has_request = false;
    REQUIRE(same(in.actions[a.first_action + i], action));
  }
  const auto end_of_records = [](const Block& block, size_t n) {
    return n + 1 < block.calls.size() ? block.calls[n + 1].first_record : block.records.size();
  };
  REQUIRE(end_of_records(in, call) - a.first_record == end_of_records(out, other) - b.first_record);
  for (size_t i = 0; i + a.first_record < end_of_records(in, call); ++i) {
    REQUIRE(in.records[a.first_record + i].time == out.records[b.first_record + i].time);
    REQUIRE(in.records[a.first_record + i].phase == out.records[b.first_record + i].phase);
  }
  REQUIRE(a.enter == b.enter);
  REQUIRE(a.leave == b.leave);
  REQUIRE(a.event == b.event);
  REQUIRE(a.actions == b.actions);
  REQUIRE(a.function_records == b.function_records);
  REQUIRE(a.name == b.name);
  REQUIRE(a.role == b.role);
}

}  // namespace

TEST_CASE("packed calls are unpacked unchanged") {
  // 40 blocks of 300 calls for each of two timelines, in turn: some pieces each, of some 20 KiB.
  // All in memory, the first few of them, none. With odd ones more than the 1 MiB that is written
  // at once.
  const bool odd = GENERATE(false, true);
  const bool with_records = GENERATE(true, false);
  const size_t memory = GENERATE(0, 50000, 1 << 26);
  CAPTURE(odd, with_records, memory);
  CallStore store(2, with_records, memory);
  std::vector<Block> blocks[2];
  Program programs[2] = {Program(1, odd, with_records), Program(2, odd, with_records)};
  for (int turn = 0; turn < 40; ++turn) {
    for (int timeline = 0; timeline < 2; ++timeline) {
      blocks[timeline].push_back(programs[timeline].block(300));
      store.append(timeline, blocks[timeline].back());
    }
  }
  for (int timeline = 0; timeline < 2; ++timeline) store.close(timeline);

  for (const bool singly : {false, true, false}) {
    CAPTURE(singly);
    store.rewind();
    // In turn. Several calls at once go into one block: the n-th pieces of both meet there, whose
    // actions must not be mixed up. Single ones follow what a read() left in a block of their own.
    Block shared, own[2];
    size_t calls[2] = {0, 0};
    size_t single = 0;
    for (bool more = true; more;) {
      more = false;
      for (int timeline = 0; timeline < 2; ++timeline) {
        Block& out = singly ? own[timeline] : shared;
        CallUnpacker* unpacker = singly ? store.unpacker(timeline) : nullptr;
        const bool is_single = unpacker && unpacker->read_next(out);
        if (!is_single && !store.read(timeline, out)) continue;
        more = true;
        single += is_single;
        const size_t count = is_single ? 1 : out.calls.size();
        for (size_t i = 0; i < count; ++i, ++calls[timeline])
          require_same(blocks[timeline][calls[timeline] / 300], calls[timeline] % 300, out, i);
      }
    }
    CHECK(calls[0] == 40 * 300);
    CHECK(calls[1] == 40 * 300);
    CHECK((single > 0) == singly);
  }
}

TEST_CASE("a loop takes six bytes a call, eight where requests have other slots each time") {
  // The same two calls for ever: of each its shape and two times, 3 units of 2 bytes. With 12 slots
  // in turn, 6 of them at each call, the first 4 come with shapes and all others are written,
  // 2 bytes each. What a piece holds once is the header, 32 bytes, and 2 or 10 shapes, or one more
  // for the very first call, which has no records before it, with an action each, 64 bytes: at most
  // 736.
  const uint32_t slots = GENERATE(1u, 12u);
  CallPacker packer(false);
  Block block;
  for (uint64_t i = 0; i < 600; ++i) {
    Call call;
    call.enter = 1000.0 * static_cast<double>(i);
    call.leave = call.enter + 300;
    call.event = 3 * i;
    call.first_action = static_cast<uint32_t>(i);
    call.actions = 1;
    call.name = static_cast<uint16_t>(i % 2);
    Action action;
    action.kind = i % 2 ? ActionKind::kSend : ActionKind::kPost;
    action.message.slot = static_cast<uint32_t>(i % slots);
    block.calls.push_back(call);
    block.actions.push_back(action);
  }
  for (size_t i = 0; i < block.calls.size(); ++i) packer.add(block, i);
  CHECK(packer.take().bytes.size() < 600 * (slots == 1 ? 6 : 8) + 740);
}

TEST_CASE("data common to all ranks is stored once, data of their sends separately") {
  // Three ranks send to different ones, then wait for it and meet in a barrier; the last one has
  // its request in another slot. That the calls come back as they were is tested above.
  CallStore store(3, false);
  for (int timeline = 0; timeline < 3; ++timeline) {
    Block block;
    for (uint64_t i = 0; i < 30; ++i) {
      Call call;
      call.event = 3 * (i + 1);
      call.name = static_cast<uint16_t>(i % 3);
      call.first_action = static_cast<uint32_t>(i);
      call.actions = 1;
      Action& action = block.actions.emplace_back();
      action.kind = i % 3 == 0   ? ActionKind::kSend
                    : i % 3 == 1 ? ActionKind::kWaitSend
                                 : ActionKind::kCollective;
      const uint32_t slot = timeline == 2 ? 5 : 4;
      if (i % 3 == 0) action.message = {.peer = timeline + 1, .slot = slot};
      if (i % 3 == 1) action.request = {.slot = slot};
      if (i % 3 == 2) action.collective = {.root = kNoRoot, .order = 0};
      block.calls.push_back(call);
    }
    store.append(timeline, block);
    store.close(timeline);
  }
  Block blocks[3];
  for (int timeline = 0; timeline < 3; ++timeline) {
    Block& block = blocks[timeline];
    CAPTURE(timeline);
    REQUIRE(store.read(timeline, block));
    REQUIRE(block.calls.size() > 3);
    for (const Call& call : block.calls) CHECK(call.has_common_actions() == (call.name != 0));
    CHECK(block.actions_of(block.calls[0])[0].message.peer == timeline + 1);
    CHECK(block.actions_of(block.calls[1])[0].request.slot == (timeline == 2 ? 5 : 4));
    CHECK(block.actions_of(block.calls[2])[0].kind == ActionKind::kCollective);
  }
  CHECK(blocks[0].common == blocks[1].common);
  CHECK(blocks[0].common != blocks[2].common);
}

TEST_CASE("a store reports the kinds of its calls") {
  Block block;
  for (const uint16_t name : {3, 5, 3}) {
    Call call;
    call.name = name;
    call.first_action = static_cast<uint32_t>(block.actions.size());
    call.actions = 1;
    block.calls.push_back(call);
    block.actions.emplace_back().kind = ActionKind::kSend;
  }
  CallStore store(3, false);
  const auto fill = [&](int timeline) {
    store.append(timeline, block);
    store.close(timeline);
  };
  fill(0);
  CHECK(store.uses().names == std::set<uint16_t>{3, 5});
  CHECK_FALSE(store.uses().synchronous_sends);

  // A receive with the flag is no synchronous send.
  block.actions[1].kind = ActionKind::kPost;
  block.actions[1].flags = kSynchronous;
  block.calls[0].name = 7;
  fill(1);
  CHECK(store.uses().names == std::set<uint16_t>{3, 5, 7});
  CHECK_FALSE(store.uses().synchronous_sends);
  block.actions[2].flags = kSynchronous;
  fill(2);
  CHECK(store.uses().synchronous_sends);
}

TEST_CASE("a directory without space for the calls is reported") {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", "/nonexistent/directory", 1);
  CallStore store(1, true, 100000);
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  Program program(3, true);
  const auto fill = [&] {
    for (int turn = 0; turn < 200; ++turn) store.append(0, program.block(300));
  };
  CHECK_THROWS_WITH(fill(), Catch::Contains("/nonexistent/directory") &&
                                Catch::Contains("TMPDIR") && Catch::Contains("No such file"));
}
