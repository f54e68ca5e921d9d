#include "tracer/summary/run_summary.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

enum : unsigned { kInit, kFinalize, kRecv, kAllreduce };

/// Records of one thread, as the tracer leaves them in memory.
struct Records {
  std::vector<uint64_t> words;

  void put(unsigned id, uint64_t enter, uint64_t leave, std::vector<uint64_t> items = {}) {
    words.push_back(record::head(enter, id));
    words.push_back(record::size_word(leave - enter, items.size()));
    words.insert(words.end(), items.begin(), items.end());
  }
  TimeSums sums() const {
    TimeSums sums({kInit, kFirstMark, kFinalize});
    record::Cursor cursor(words.data(), words.data() + words.size(), 0);
    for (record::Record r; cursor.next(r);) sums.add(r);
    return sums;
  }
};

/// A tick is a nanosecond.
RankTimes times_of(const TimeSums& sums) {
  RankTimes times;
  times.add(sums, 1e9);
  times.start = static_cast<double>(sums.start()) * 1e-9;
  times.end = static_cast<double>(sums.end()) * 1e-9;
  return times;
}

}  // namespace

TEST_CASE("a summary adds up the records of a run") {
  // Rank 0: 200 to 1000, less 100 that are not recorded: 700. Recv: 200 less 50 stolen inside. The
  // kernel is queried at 600 for 10, so Allreduce takes 90. Compute: 700 - 150 - 90 - 10, less the
  // 50 stolen inside and 40 outside of calls: 360.
  uint64_t stolen[1], message[3];
  record::put(stolen, Item::kStolen, 50);
  const Message from_1{0, 1, 7, uint64_t{1} << 40};  // a long form: three words
  REQUIRE(record::put_message(message, Item::kRecv, from_1) == message + 3);
  Records first;
  first.put(kInit, 100, 200);
  first.put(kRecv, 300, 500, {message[0], message[1], message[2], stolen[0]});
  first.put(kMarkStolen, 600, 600, {40, 10});
  first.put(kAllreduce, 600, 700);
  first.put(kMarkOff, 750, 750);
  first.put(kMarkOn, 850, 850);
  first.put(kFinalize, 1000, 1100);
  // Rank 1: 210 to 1010, 800. Compute: 800 - 90 = 710.
  Records second;
  second.put(kInit, 100, 210);
  second.put(kAllreduce, 610, 700);
  second.put(kFinalize, 1010, 1100);
  const RankTimes times[] = {times_of(first.sums()), times_of(second.sums())};
  CHECK(times[0].compute == Approx(360e-9));
  CHECK(times[1].compute == Approx(710e-9));

  // Elapsed: 1010 - 200. Of 1500: Allreduce 180, Recv 150. Compute: mean 535 of 710. Stolen: 90.
  CHECK(summary_line({RankTimes::unpack(times[0].pack()), RankTimes::unpack(times[1].pack())},
                     {"MPI_Init", "MPI_Finalize", "MPI_Recv", "MPI_Allreduce"}) ==
        "summary: 2 ranks, elapsed 8.1e-07 s, 22 % of it in MPI (MPI_Allreduce 12 %, MPI_Recv 10 "
        "%), load balance 75 %, without a core 6.0 %; shares of what was recorded");
}

TEST_CASE("items of all kinds are passed to find what was stolen") {
  uint64_t words[32] = {};
  uint64_t* at = record::put(words, Item::kCollective, 1);
  // Words that look like that item.
  uint64_t decoy;
  record::put(&decoy, Item::kStolen, 999);
  *at++ = decoy;
  *at++ = decoy;
  at = record::put(at, Item::kParts, PartsHead{2, true}.value());
  for (int i = 0; i < 3; ++i) *at++ = decoy;
  at = record::put(at, Item::kRmaOperation, 5);
  for (int i = 0; i < 4; ++i) *at++ = decoy;
  at = record::put(at, Item::kStolen, 3);
  Records records;
  records.put(kRecv, 100, 200, std::vector<uint64_t>(words, at));
  CHECK(records.sums().calls()[kRecv].stolen == 3);
}
