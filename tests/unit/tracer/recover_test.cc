// Archives built from the files of killed runs. The fixture defines the times of its calls; one
// tick is one nanosecond.

#include "tracer/recover/recover.h"

#include <otf2/otf2.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/killed_run.h"
#include "tests/unit/directory.h"
#include "tracer/archive/archive_files.h"
#include "tracer/layout/record.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

/// The files left by a run, and the archive built from them.
class Recovery {
 public:
  explicit Recovery(const KilledRun& run) { write_killed_run(run, records()); }

  fs::path records() const { return directory_.path() / "records"; }
  std::string output() const { return directory_.path() / "archive"; }

  RecoverResult run(RecoverTask task = {}) const {
    task.directories = {records()};
    task.output = output();
    return recover(task);
  }
  /// As `rubato replay` does.
  Results replay() const {
    return run_replay(output(), {parse_scenario("measured"), parse_scenario("perfect")}, {});
  }

 private:
  TemporaryDirectory directory_;
};

bool says(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

uint64_t item_word(Item kind, uint64_t value) {
  uint64_t word;
  record::put(&word, kind, value);
  return word;
}

/// A blocking collective on the world, whose local number is 0.
std::vector<uint64_t> collective_items(unsigned operation, uint32_t root) {
  return {item_word(Item::kSmallCollective, collective_word(operation, 0, root)), 0};
}

}  // namespace

TEST_CASE("a killed run is recovered and replayed") {
  const Recovery recovery({});
  const RecoverResult result = recovery.run();
  CHECK(result.recovered == 2);
  CHECK(result.missing.empty());
  CHECK(result.in_calls ==
        std::vector<std::string>{"rank 0 was in MPI_Barrier", "rank 1 was in MPI_Barrier"});
  // From MPI_Init at 1000 to MPI_Barrier at 2000 + 4 * 1000.
  CHECK(result.seconds * 1e9 == Approx(5000));
  CHECK_FALSE(fs::exists(recovery.records()));
  const Results results = recovery.replay();
  // From the end of MPI_Init at 1500.
  CHECK(results.scenarios[0].elapsed * 1e9 == Approx(4500));
  // Each rank: four messages by MPI_Isend.
  CHECK(results.trace.unmatched_sends == 0);
}

TEST_CASE("a recovery reports its progress") {
  const Recovery recovery({.second_thread = false});
  std::vector<double> shares;
  std::vector<std::vector<std::string>> incomplete;
  RecoverTask task;
  task.progress = [&](double share) { shares.push_back(share); };
  task.incomplete = [&](const std::vector<std::string>& parts) {
    incomplete.push_back(parts);
    // Incomplete paths are reported before anything is written, and no record is removed before all
    // is written.
    CHECK(fs::exists(recovery.output() + "/traces.otf2") == parts.empty());
    CHECK(fs::exists(recovery.records() / "0.journal"));
  };
  recovery.run(task);
  // Two ranks with two segments each, all of one size, read three times; then it is done.
  REQUIRE(shares.size() == 3 * 4 + 1);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.front() > 0);
  for (const size_t pass : {0, 4, 8}) {  // in equal steps, also the last but for its end
    CHECK(shares[pass + 1] - shares[pass] == Approx(shares[pass + 2] - shares[pass + 1]));
    CHECK(shares[pass + 1] - shares[pass] > 0.005);
  }
  CHECK(shares[11] == 0.99);
  CHECK(shares[12] == 1);
  CHECK(incomplete == std::vector<std::vector<std::string>>{{recovery.output()}, {}});
}

// Cases found with mutated records and journals (tests/fuzz): archives that libotf2 did not write,
// or that replay refused.

TEST_CASE("damaged records whose times run backwards are recovered") {
  // The end of a request is at the end of its call, the send after it at its begin.
  std::vector<uint64_t> items(4);
  items[0] = item_word(Item::kIsendComplete, 99);
  record::put_message(items.data() + 1, Item::kSend, {0, 1, 40000, 8});
  const Recovery recovery({.items = items});
  const RecoverResult result = recovery.run();
  // The send, and no other record, is earlier than the one before it.
  for (const char* rank : {"rank 0", "rank 1"})
    CHECK(says(result.missing, std::string(rank) + ": 1 times are damaged"));
  CHECK(recovery.replay().trace.unmatched_sends == 2);
}

TEST_CASE("damaged collectives are left out and counted") {
  const unsigned operation = GENERATE(OTF2_COLLECTIVE_OP_BCAST, OTF2_COLLECTIVE_OP_DEALLOCATE);
  // Of two ranks none is 5; and MPI has no collective that only frees memory.
  const Recovery recovery({.items = collective_items(operation, 5)});
  const RecoverResult result = recovery.run();
  CHECK(says(result.missing, "rank 0: 1 records are damaged and left out"));
  CHECK(says(result.missing, "rank 1: 1 records are damaged and left out"));
  recovery.replay();
}

TEST_CASE("a damaged journal that names no MPI library is no full disk") {
  const std::string name = GENERATE(as<std::string>{}, "", std::string(3, '\0'));
  const Recovery recovery({.facts = [&](ProcessFacts& facts) { facts.mpi_library = name; }});
  recovery.run();
  recovery.replay();
}

TEST_CASE("numbers of a damaged journal that readers refuse are left out") {
  const double value = GENERATE(1.1e9, -1.0, std::numeric_limits<double>::quiet_NaN());
  const Recovery recovery({.facts = [&](ProcessFacts& facts) {
    facts.overhead.message = value;  // ticks; 1e9 are a second, the most that readers take
    facts.eager_limits.node = (uint64_t{1} << 60) + 1;
  }});
  const RecoverResult result = recovery.run();
  CHECK(says(result.missing, "0.journal: what recording costs is damaged"));
  CHECK(says(result.missing, "0.journal: an eager limit is damaged"));
  recovery.replay();
}

TEST_CASE("a communicator that has a rank twice is left out") {
  const Recovery recovery({.journal = [] {
    journal::communicator({2, 55, 1, "twice", true, true, false, {0, 0}, {}});
  }});
  CHECK(says(recovery.run().missing, "0.journal: 1 entries are damaged"));
  recovery.replay();
}

TEST_CASE("journals that contradict each other in the members of a communicator") {
  int rank = 0;
  // Rank 0's journal, which counts, says 1 member, and that of rank 1 two: a message to the second
  // of them (local number 1) has no receiver.
  std::vector<uint64_t> items(3);
  record::put_message(items.data(), Item::kSend, {2, 1, 40000, 8});
  const Recovery recovery(
      {.journal =
           [&] {
             const std::vector<int> members = rank++ == 0 ? std::vector{0} : std::vector{0, 1};
             journal::communicator({2, 55, 1, "odd", true, true, false, members, {}});
           },
       .items = items});
  CHECK(says(recovery.run().missing, "rank 1: 1 records are damaged and left out"));
  recovery.replay();
}

TEST_CASE("the records of a main thread are missing") {
  const Recovery recovery({.ranks = 1});
  fs::remove(recovery.records() / "0.0.records");
  recovery.run();
  // The other thread began at 1820 and ended 600 before 6000; so long the program ran.
  CHECK(recovery.replay().scenarios[0].elapsed * 1e9 == Approx(5400 - 1820));
}

TEST_CASE("a thread of a killed run outlives the last call of the main thread") {
  const Recovery recovery({.ranks = 1, .rounds = 2});
  // Without its last segment main's records end at 2370, the other thread's at 4000 - 600.
  fs::resize_file(recovery.records() / "0.0.records",
                  fs::file_size(recovery.records() / "0.0.records") / 2);
  recovery.run();
  CHECK(recovery.replay().scenarios[0].elapsed * 1e9 == Approx(3400 - 1500));
}

TEST_CASE("a damaged journal that counts from the last possible tick is rejected") {
  const Recovery recovery({.facts = [](ProcessFacts& facts) { facts.zero = UINT64_MAX; }});
  CHECK_THROWS_WITH(recovery.run(), Catch::Contains("0.journal: it is damaged"));
}

TEST_CASE("an error of OTF2 that has no errno is named as OTF2 does") {
  silence_otf2();
  otf2_failed = false;
  errno = ENOENT;  // of something else
  CHECK(OTF2_Archive_SetCreator(nullptr, "x") == OTF2_ERROR_INVALID_ARGUMENT);
  CHECK(otf2_failed);
  CHECK(otf2_error == -OTF2_ERROR_INVALID_ARGUMENT);
  CHECK(write_trouble(otf2_error).cause.starts_with("OTF2: "));
  otf2_failed = false;
  // A file that does not exist: the system's reason.
  errno = 0;
  {
#ifdef __SANITIZE_ADDRESS__
    // OTF2 keeps the handle of an archive that it cannot open.
    const __lsan::ScopedDisabler disabler;
#endif
    CHECK(OTF2_Reader_Open("/proc/none.otf2") == nullptr);
  }
  CHECK(otf2_error == ENOENT);
  otf2_failed = false;
  otf2_error = 0;
}
