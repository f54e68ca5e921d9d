#include "tracer/layout/record.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tracer/record/own_work.h"

using namespace rubato;

namespace {

/// Writes one message and reads it back; the words it took.
size_t words_of(Item item, const Message& message) {
  uint64_t words[kMaxItemWords] = {};
  const auto used = static_cast<size_t>(record::put_message(words, item, message) - words);
  record::Reader reader(words, words + used);
  CHECK(reader.item() == item);
  const Message back = reader.message();
  CHECK(back.communicator == message.communicator);
  CHECK(back.peer == message.peer);
  CHECK(back.tag == message.tag);
  CHECK(back.bytes == message.bytes);
  CHECK(reader.done());
  return used;
}

}  // namespace

TEST_CASE("a usual message takes one word") {
  CHECK(words_of(Item::kSend, {0, 0, 0, 0}) == 1);
  CHECK(words_of(Item::kRecv, {63, 0xfffe, 0x7ffe, 0x7fffff}) == 1);
  CHECK(words_of(Item::kIrecvRequest, {5, -1, -1, 0}) == 1);  // any source, any tag
}

TEST_CASE("what does not fit takes three words") {
  CHECK(words_of(Item::kIsend, {64, 1, 1, 8}) == 3);
  CHECK(words_of(Item::kSend, {0, 0xffff, 1, 8}) == 3);
  CHECK(words_of(Item::kSend, {0, 1, 0x7fff, 8}) == 3);
  CHECK(words_of(Item::kIrecv, {0, 1, 1, 0x800000}) == 3);
  CHECK(words_of(Item::kIrecvRequest, {1000, -1, -1, 0}) == 3);
  CHECK(words_of(Item::kSend, {0xfffffff, 0xffffffe, 0x7fffffff, UINT64_MAX}) == 3);
}

TEST_CASE("items of a call are read in the order they were written") {
  uint64_t words[16];
  uint64_t* at = record::put_message(words, Item::kIrecv, {1, 2, 3, 4});
  *at++ = 17;  // the request
  at = record::put(at, Item::kIsendComplete, uint64_t{1} << 59);
  record::Reader reader(words, at);
  CHECK(reader.item() == Item::kIrecv);
  CHECK(reader.message().bytes == 4);
  CHECK(reader.word() == 17);
  CHECK(reader.item() == Item::kIsendComplete);
  CHECK(reader.value() == uint64_t{1} << 59);
  CHECK(reader.done());
}

TEST_CASE("the block length of a message follows it and its word") {
  uint64_t words[16];
  uint64_t* at = record::put_message(words, Item::kIsendStart, {1, 2, 3, 4, 5});
  *at++ = 17;  // the request
  at = record::put(at, Item::kBlock, 5);
  at = record::put_message(at, Item::kSend, {1, 2, 3, 0x800000, UINT32_MAX});  // in the long form
  at = record::put(at, Item::kBlock, UINT32_MAX);
  record::Reader reader(words, at);
  CHECK(reader.message().bytes == 4);
  CHECK(reader.word() == 17);
  CHECK(reader.item() == Item::kBlock);
  CHECK(reader.value() == 5);
  reader.pass();
  CHECK(reader.item() == Item::kBlock);
  reader.pass();
  CHECK(reader.done());
}

TEST_CASE("items of a damaged record end where the record does") {
  uint64_t words[4] = {0, 0, 17, 18};
  record::put(words, Item::kIsendComplete, 3);
  record::Reader reader(words, words + 1);
  CHECK(reader.value() == 3);
  CHECK(reader.word() == 0);
  CHECK(reader.done());
  // three words, only one of which is present
  record::put_message(words, Item::kSend, {0, 1, 0x7fff, 8});
  record::Reader torn(words, words + 1);
  CHECK(torn.message().bytes == 0);
  CHECK(torn.done());
}

namespace {

/// The contents that a Cursor finds in some words, with zero time 1000.
std::vector<record::Record> records_in(const std::vector<uint64_t>& words) {
  std::vector<record::Record> found;
  record::Cursor cursor(words.data(), words.data() + words.size(), 1000);
  for (record::Record r; cursor.next(r);) found.push_back(r);
  return found;
}

}  // namespace

TEST_CASE("the begin and the end of a thread have its number in place of a duration") {
  // The call between them is entered 5 behind the begin, at 1000 + 50 + 5, and left 9 later.
  const auto found = records_in({record::head(50, kMarkThreadBegin), 17,
                                 record::short_done(record::short_open(5, 4), 9, 0),
                                 record::head(70, kMarkThreadEnd), 17});
  REQUIRE(found.size() == 3);
  CHECK(found[0].id == kMarkThreadBegin);
  CHECK(found[0].enter == 1050);
  CHECK(found[0].word == 17);
  CHECK(found[0].left);
  CHECK(found[1].enter == 1055);
  CHECK(found[1].leave == 1064);
  CHECK(found[2].id == kMarkThreadEnd);
  CHECK(found[2].enter == 1070);
  CHECK(found[2].word == 17);
}

TEST_CASE("records follow each other by long and short heads") {
  // A long head: entered at 1000 + 50, 7 ticks, one item; then a short one 5 ticks after the first
  // was left (1057 + 5 = 1062), 9 ticks, two items.
  std::vector<uint64_t> words = {record::head(50, 3),
                                 record::size_word(7, 1),
                                 0,
                                 record::short_done(record::short_open(5, 4), 9, 2),
                                 0,
                                 77,
                                 0};
  record::put(&words[2], Item::kIsendComplete, 12);
  record::put(&words[4], Item::kCollectiveStart, 13);
  const auto found = records_in(words);
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == 3);
  CHECK(found[0].enter == 1050);
  CHECK(found[0].leave == 1057);
  auto items = found[0].items;
  CHECK(items.value() == 12);
  CHECK(items.done());
  CHECK(found[1].id == 4);
  CHECK(found[1].enter == 1062);
  CHECK(found[1].leave == 1071);
  items = found[1].items;
  CHECK(items.item() == Item::kCollectiveStart);
  CHECK(items.value() == 13);
  CHECK(items.word() == 77);
  CHECK(items.done());
}

TEST_CASE("the fields of the largest short head do not overlap") {
  const uint64_t delta = record::kShortDelta - 1, duration = record::kShortDuration - 1;
  const auto found =
      records_in({record::head(1, 0), record::size_word(1, 0),
                  record::short_done(record::short_open(delta, 1019), duration, 0), 0});
  REQUIRE(found.size() == 2);
  CHECK(found[1].id == 1019);
  CHECK(found[1].enter == 1002 + delta);
  CHECK(found[1].leave == 1002 + delta + duration);
}

TEST_CASE("a call that was not left is the last") {
  // Behind its head stand items of a call that never ended.
  for (const uint64_t open : {record::head(60, 5), record::short_open(3, 5)}) {
    const auto found = records_in({record::head(50, 3), record::size_word(7, 0), open, 0, 1234});
    REQUIRE(found.size() == 2);
    CHECK(found[1].id == 5);
    CHECK_FALSE(found[1].left);
    CHECK(found[1].enter == 1060);  // 1000 + 60, and 1057 + 3
    CHECK(found[1].leave == 1060);
    CHECK(found[1].items.done());
  }
}

TEST_CASE("torn records end the segment") {
  CHECK(records_in({}).empty());
  CHECK(records_in({0, 5}).empty());
  CHECK(records_in({record::head(1, 1)}).empty());                              // half a head
  CHECK(records_in({record::head(1, 1), record::size_word(1, 3), 0}).empty());  // items cut off
  CHECK(records_in({record::short_open(1, 1)}).empty());                        // after nothing
}

TEST_CASE("a call of many minutes has its leave time after its items") {
  const uint64_t leave = uint64_t{1} << 41;
  std::vector<uint64_t> words = {record::head(1, 1), record::size_word(kMaxDuration, 3), 0, 0,
                                 leave};
  record::put(&words[2], Item::kIsendComplete, 12);
  record::put(&words[3], Item::kLeaveTime, 0);
  auto found = records_in(words);
  REQUIRE(found.size() == 1);
  CHECK(found[0].leave == leave + 1000);
  CHECK(found[0].items.value() == 12);
  CHECK(found[0].items.done());
}

namespace {

/// The runs that some parts are written as: {peers, bytes}; behind them has to be zero.
std::vector<std::pair<uint64_t, uint64_t>> runs_of(const std::vector<uint64_t>& parts) {
  std::vector<uint64_t> words(kMaxPartRuns + 1);
  const size_t n = put_part_runs(words.data(), parts.size(), [&](uint64_t i) { return parts[i]; });
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  for (size_t i = 0; i < n; ++i) {
    const PartRun run = PartRun::of(words[i]);
    runs.emplace_back(run.peers, run.bytes);
  }
  CHECK(std::all_of(words.begin() + static_cast<ptrdiff_t>(n), words.end(),
                    [](uint64_t word) { return word == 0; }));
  return runs;
}

}  // namespace

TEST_CASE("equal parts in a row are one word") {
  using Runs = std::vector<std::pair<uint64_t, uint64_t>>;
  CHECK(runs_of({}).empty());
  CHECK(runs_of({0, 0, 0}) == Runs{{3, 0}});
  CHECK(runs_of({8, 8, 0, 0, 0, 4, 8}) == Runs{{2, 8}, {3, 0}, {1, 4}, {1, 8}});
  CHECK(runs_of({kMaxPartBytes, kMaxPartBytes}) == Runs{{2, kMaxPartBytes}});
}

TEST_CASE("parts that do not fit are left out completely") {
  std::vector<uint64_t> parts(kMaxPartRuns);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = i;
  CHECK(runs_of(parts).size() == kMaxPartRuns);
  parts.push_back(parts.back());  // one run less than peers
  CHECK(runs_of(parts).size() == kMaxPartRuns);
  parts.push_back(0);
  CHECK(runs_of(parts).empty());
  CHECK(runs_of({1, 2, kMaxPartBytes + 1}).empty());
}

TEST_CASE("own work names the callback that ran longest, and counts all") {
  const uint64_t op = callback_word(CallbackKind::kOperation, 0x7fffdeadbee0);
  const uint64_t copy = callback_word(CallbackKind::kAttributeCopy, 0x7fffdeadbee0);
  OwnWork own;
  CHECK(!own.any());
  own.add(op, 30);
  own.add(copy, 40);
  own.add(op, 20);  // 50 of the operation, 40 of the other function at the same address
  CHECK(own.ticks() == 90);
  CHECK(own.longest() == op);
  // Beyond four different ones, time has no name.
  for (uint64_t i = 1; i <= 3; ++i) own.add(callback_word(CallbackKind::kRequest, i), 1000 * i);
  CHECK(own.ticks() == 6090);
  CHECK(own.longest() == callback_word(CallbackKind::kRequest, 2));
  own.clear();
  CHECK(!own.any());
}

TEST_CASE("own work takes two words, which a reader can pass") {
  const uint64_t op = callback_word(CallbackKind::kDataRepresentation, 0x7fffdeadbee0);
  CHECK(callback_address(op) == 0x7fffdeadbee0);
  CHECK(std::string(callback_kind(op)) == "data representation function");
  CHECK(std::string(callback_kind(uint64_t{63} << 48)) == "callback");  // a damaged record
  uint64_t words[4];
  uint64_t* at = record::put(words, Item::kOwnWork, op);
  *at++ = 123456;
  at = record::put(at, Item::kCallSite, 7);
  record::Reader reader(words, at);
  CHECK(reader.item() == Item::kOwnWork);
  record::Reader passing = reader;
  CHECK(reader.value() == op);
  CHECK(reader.word() == 123456);
  passing.pass();
  CHECK(passing.item() == Item::kCallSite);
}
