// Threads of one process that divide a replay: how many, and what comes of archives that cannot be
// opened or replayed. That they find what one finds divided_test.cc and e2e/replay_processes.sh
// check.

#include "replay/run/joint_replay.h"

#include <catch2/catch.hpp>
#include <vector>

#include "models/base/error.h"
#include "replay/sources/text_source.h"
#include "tests/unit/forwarding_source.h"

using namespace rubato;

namespace {

const char* const kText = "0: 0..1 barrier\n0: 2 end\n";

/// A source that says how large its ranks are.
class Sized : public ForwardingSource {
 public:
  explicit Sized(std::vector<uint64_t> sizes) : ForwardingSource(kText), sizes_(std::move(sizes)) {}
  std::vector<uint64_t> sizes_of_ranks() const override { return sizes_; }

 private:
  std::vector<uint64_t> sizes_;
};

}  // namespace

TEST_CASE("threads are started if there is enough work for each") {
  bool diagnoses = false;
  const auto threads = [&](size_t ranks, uint64_t records, int asked, int processors = 64) {
    return threads_that_pay(Sized(std::vector<uint64_t>(ranks, records / ranks)), asked, diagnoses,
                            processors);
  };
  // 4 million records are one thread's, and 16 ranks.
  CHECK(threads(64, 7000000, 0) == 1);
  CHECK(threads(64, 8000000, 0) == 2);
  CHECK(threads(16, 80000000, 0) == 1);
  CHECK(threads(32, 80000000, 0) == 2);
  CHECK(threads(1024, 4000000000, 0) == 8);
  CHECK(threads(1024, 4000000000, 0, 3) == 3);
  CHECK(threads(1024, 4000000000, 0, 1) == 1);
  // A requested number of threads is limited only by the number of ranks.
  CHECK(threads(64, 64, 5) == 5);
  CHECK(threads(3, 64, 5) == 3);
  CHECK(threads(64, 64, 5, 1) == 5);
  // This one does not say how much there is to do.
  CHECK(threads_that_pay(*parse_text_trace(kText), 5, diagnoses) == 1);
  // A diagnosis takes one thread as long as a half of the rest: with two or three nothing is
  // gained.
  diagnoses = true;
  CHECK(threads(64, 8000000, 0) == 1);
  CHECK(threads(1024, 4000000000, 0, 3) == 1);
  CHECK(threads(1024, 4000000000, 0, 4) == 4);
  CHECK(threads(64, 64, 2) == 2);
}

TEST_CASE("threads leave an archive that cannot be opened to one of them") {
  std::unique_ptr<EventSource> source;
  const JointReplay joint =
      replay_on_threads(3, "/not/there.otf2", {parse_scenario("perfect")}, {}, source);
  CHECK_FALSE(joint.results);
  CHECK_FALSE(source);
}
