// Records left by runs: found, distinguished from records of live processes, and removed.

#include "tracer/recover/leftovers.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fixture/killed_run.h"
#include "tests/unit/directory.h"
#include "tracer/base/clock.h"
#include "tracer/base/settings.h"
#include "tracer/recover/recover.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

std::string name_of_records(const char* number) {
  return "rubato-" + std::to_string(geteuid()) + "-" + number;
}

/// The entry for a directory; others of this machine's may be listed beside it.
Leftover entry(const fs::path& place, const fs::path& directory) {
  for (const Leftover& left : find_leftovers({place.string()})) {
    if (left.directory == fs::canonical(directory)) return left;
  }
  FAIL(directory << " is not listed");
  return {};
}

}  // namespace

TEST_CASE("records without a journal are listed, and removed when they are old") {
  const TemporaryDirectory place;
  const fs::path directory = place.path() / name_of_records("0123456789ab");
  fs::create_directory(directory);
  std::ofstream(directory / "0.0.records") << std::string(8192, 'x');
  std::ofstream(directory / "mine.txt") << "x";
  const Leftover left = entry(place.path(), directory);
  CHECK(left.state == RecordState::kUnknown);
  CHECK(left.ranks.empty());
  CHECK_THROWS_WITH(discard_records(directory), Catch::Contains("has no journal"));
  CHECK(fs::exists(directory / "0.0.records"));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(directory / "0.0.records", old);
  fs::last_write_time(directory, old);
  discard_records(directory);
  CHECK_FALSE(fs::exists(directory / "0.0.records"));
  CHECK(fs::exists(directory / "mine.txt"));
}

TEST_CASE("only this user's directories of records are listed") {
  const TemporaryDirectory place;
  for (const std::string& name : {name_of_records("0123456789"), name_of_records("0123456789xy"),
                                  std::string("rubato-x-0123456789ab"),
                                  "rubato-" + std::to_string(geteuid() + 1) + "-0123456789ab"})
    fs::create_directory(place.path() / name);
  fs::create_directory_symlink("/", place.path() / name_of_records("ba9876543210"));
  for (const Leftover& left : find_leftovers({place.path()}))
    CHECK_FALSE(left.directory.starts_with(place.path().string()));
  CHECK_THROWS_AS(find_leftovers({place.path() / "none"}), RecoverError);
}

TEST_CASE("records are those of an ended run where its processes are gone, and only here") {
  const TemporaryDirectory place;
  const fs::path directory = place.path() / name_of_records("00000000000f");
  const std::string archive = place.path() / "run.otf2dir";
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  KilledRun run;
  run.facts = [&](ProcessFacts& facts) {
    facts.output = archive;
    facts.command = "./app 7";
    facts.boot = boot_id();
    facts.host = "a container";
  };
  SECTION("of this boot") {}
  SECTION("of this machine before it was started anew") {
    run.facts = [&, before = run.facts](ProcessFacts& facts) {
      before(facts);
      facts.boot = "earlier";
      facts.host = host;
    };
  }
  write_killed_run(run, directory);
  fs::create_directory(archive);
  std::ofstream(archive + "/INCOMPLETE")
      << "ranks 2\nrecords h " << directory.string() << ": 0 1\n";
  const Leftover left = entry(place.path(), directory);
  CHECK(left.state == RecordState::kEnded);
  CHECK(left.ranks == std::vector<int>{0, 1});
  CHECK(left.size == 2);
  CHECK(left.command == "./app 7");
  CHECK(left.output == archive);
  CHECK(left.bytes > 0);
  // Given by either name, both go.
  CHECK(discard_records(GENERATE(true, false) ? directory.string() : archive) > 0);
  CHECK_FALSE(fs::exists(directory));
  CHECK_FALSE(fs::exists(archive));
}

TEST_CASE("records of processes that run, or ran on another machine, are not discarded") {
  const TemporaryDirectory place;
  const fs::path directory = place.path() / name_of_records("00000000000e");
  KilledRun run;
  RecordState expected = RecordState::kElsewhere;
  std::string message = "recorded on node7";
  SECTION("another machine") {
    run.facts = [](ProcessFacts& facts) {
      facts.boot = "another";
      facts.host = "node7";
    };
  }
  SECTION("this process, which holds no lock") {
    expected = RecordState::kRunning;
    message = "still runs";
    run.facts = [](ProcessFacts& facts) {
      facts.boot = boot_id();
      facts.pid = static_cast<uint64_t>(getpid());
      facts.command = command_line();
    };
  }
  write_killed_run(run, directory);
  CHECK(entry(place.path(), directory).state == expected);
  CHECK_THROWS_WITH(discard_records(directory), Catch::Contains(message));
  CHECK(fs::exists(directory / "0.journal"));
  CHECK(fs::exists(directory / "0.0.records"));
}
