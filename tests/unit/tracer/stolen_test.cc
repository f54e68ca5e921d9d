#include "tracer/base/stolen.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <thread>

#include "tracer/layout/record.h"

using namespace rubato;

TEST_CASE("a schedstat file has the time on a core and the time without one") {
  ThreadTimes times;
  CHECK(parse_schedstat("52104591 156906679 16\n", times));
  CHECK(times.ran == 52104591);
  CHECK(times.waited == 156906679);
  CHECK(parse_schedstat("5 0 1\n", times));
  CHECK(times.waited == 0);
}

TEST_CASE("what is no schedstat file is not taken for one") {
  ThreadTimes times;
  for (const char* text : {"", "\n", "0 0 0\n", "1 2\n", "1 2 3", "1 2 3 4\n", "1 2 3\n4",
                           "a b c\n", "1  2 3\n", "-1 2 3\n"}) {
    INFO(text);
    CHECK_FALSE(parse_schedstat(text, times));
  }
}

TEST_CASE("what is stolen from a thread is no more than its time without a core") {
  StolenTime stolen;
  CHECK(stolen.take() == 0);  // not open
  stolen.open();
  if (!stolen.known()) return;  // a kernel that does not count
  const auto now = [](clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  stolen.take();
  const double wall = now(CLOCK_MONOTONIC);
  const double own = now(CLOCK_THREAD_CPUTIME_ID);
  while (now(CLOCK_MONOTONIC) < wall + 0.02) continue;
  // The thread never sleeps: it ran, or it had no core. Reading the clocks takes less than 1 ms,
  // unless the core is lost right there, so that many tries are made.
  bool equal = false;
  double missing = 0;
  double sum = 0;
  for (int i = 0; i < 50 && !equal; ++i) {
    sum += 1e-9 * static_cast<double>(stolen.take());
    missing = now(CLOCK_MONOTONIC) - wall - (now(CLOCK_THREAD_CPUTIME_ID) - own);
    equal = std::abs(missing - sum) < 1e-3;
  }
  CHECK(equal);
  // What is put back comes with the next read, once, whether the thread was switched or not.
  stolen.take();
  stolen.put_back(3'600'000'000'000);  // an hour: more than can be stolen here
  CHECK(stolen.take() >= 3'600'000'000'000);
  CHECK(stolen.take() < 3'600'000'000'000);
  stolen.close();
  CHECK(stolen.take() == 0);
}

TEST_CASE("a mark of stolen time is read between calls") {
  // A call from 100 to 200 of 1000 stolen nanoseconds; the mark at 300: 2000 stolen, 5 ticks for
  // the query; a call from 300 to 400.
  uint64_t words[16] = {};
  uint64_t* at = words;
  *at++ = record::head(100, 1);
  *at++ = record::size_word(100, 1);
  at = record::put(at, Item::kStolen, 1000);
  *at++ = record::head(300, kMarkStolen);
  *at++ = record::size_word(0, 2);
  *at++ = 2000;
  *at++ = 5;
  *at++ = record::short_done(record::short_open(0, 2), 100, 0);
  record::Cursor cursor(words, at, 1000);
  record::Record r;
  REQUIRE(cursor.next(r));
  CHECK(r.items.item() == Item::kStolen);
  CHECK(r.items.value() == 1000);
  CHECK(r.items.done());
  REQUIRE(cursor.next(r));
  CHECK(r.id == kMarkStolen);
  CHECK(r.enter == 1300);
  CHECK(r.leave == 1300);
  CHECK(r.items.word() == 2000);
  CHECK(r.items.word() == 5);
  REQUIRE(cursor.next(r));
  CHECK(r.id == 2);
  CHECK(r.enter == 1300);
  CHECK(r.leave == 1400);
  CHECK_FALSE(cursor.next(r));
}
