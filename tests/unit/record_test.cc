#include "tracer/record.h"

#include <catch2/catch.hpp>

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
