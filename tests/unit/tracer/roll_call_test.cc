#include "tracer/session/roll_call.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/directory.h"

/// Ranks are threads here, and nodes are directories, which makes no difference for files and
/// locks.
namespace rubato {
inline namespace tracing {
namespace {

namespace fs = std::filesystem;

struct Rank {
  int rank;
  std::string node;
};

std::vector<RollCall::Answer> call(const std::string& shared, const std::vector<Rank>& traced,
                                   int size, double patience) {
  std::vector<std::unique_ptr<RollCall>> calls;
  for (const Rank& each : traced) {
    fs::create_directories(each.node);
    calls.push_back(std::make_unique<RollCall>(RollCall::Places{"job", {each.node}, shared}));
  }
  std::vector<RollCall::Answer> answers(traced.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < traced.size(); ++i) {
    threads.emplace_back([&, i] { answers[i] = calls[i]->answer(traced[i].rank, size, patience); });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

size_t files_in(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_directory() || fs::path(entry).filename().string()[0] == '.') ++count;
  }
  return count;
}

TEST_CASE("all ranks are traced, on one node and on two") {
  const TemporaryDirectory place;
  const std::string a = place.path().string() + "/a", b = place.path().string() + "/b";
  for (const std::vector<Rank>& ranks :
       {std::vector<Rank>{{0, a}, {1, a}, {2, a}}, std::vector<Rank>{{0, a}, {1, b}, {2, b}}}) {
    for (const auto& answer : call(place.path(), ranks, 3, 60)) {
      CHECK(answer.all);
      CHECK(!answer.speaker);
    }
    CHECK(files_in(place.path()) == 0);
  }
}

TEST_CASE("some ranks are not traced: one rank reports it") {
  const TemporaryDirectory place;
  const std::string a = place.path().string() + "/a", b = place.path().string() + "/b";
  for (const std::vector<Rank>& ranks :
       {std::vector<Rank>{{0, a}, {2, a}, {3, a}}, std::vector<Rank>{{0, a}, {2, b}, {3, b}}}) {
    int speakers = 0;
    for (const auto& answer : call(place.path(), ranks, 5, 3)) {
      CHECK(!answer.all);
      if (!answer.speaker) continue;
      ++speakers;
      const std::string line = untraced_ranks(answer, 5);
      CHECK(line.find("of 5 ranks, ranks 0,2-3 are traced and ranks 1,4 are not;") !=
            std::string::npos);
    }
    CHECK(speakers == 1);
    CHECK(files_in(place.path()) == 0);
  }
}

TEST_CASE("what a killed job left does not count") {
  const TemporaryDirectory place;
  const std::string node = place.path() / "node";
  fs::create_directories(node);
  std::string file;
  {
    // A killed process removes nothing, and its lock is gone: a second name survives the first.
    const RollCall ended({"job", {node}, place.path()});
    file = fs::directory_iterator(node)->path();
    fs::create_hard_link(file, file + ".kept");
  }
  fs::rename(file + ".kept", file);
  // One process of two; the other one on file is dead.
  CHECK(!call(place.path(), {{0, node}}, 2, 0.2)[0].all);
  CHECK(files_in(place.path()) == 0);
}

TEST_CASE("if nothing can be written, not all ranks are found") {
  const TemporaryDirectory place;
  const std::string node = place.path().string() + "/node";
  const auto answers = call(place.path().string() + "/nowhere", {{1, node}}, 2, 0.1);
  CHECK(!answers[0].all);
  CHECK(answers[0].speaker);
  CHECK(untraced_ranks(answers[0], 2) ==
        "nothing is recorded: rank 1 could not see whether the other ranks of 2 are traced: " +
            place.path().string() + "/nowhere: No such file or directory");
}

}  // namespace
}  // namespace tracing
}  // namespace rubato
