#include "tools/profile/run_sums.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "tests/unit/directory.h"
#include "tests/unit/small_sums.h"
#include "tools/profile/profile_report.h"

using namespace rubato;
using Catch::Matchers::Contains;

namespace {

std::string changed(const std::string& from, const std::string& to) {
  std::string text = small_sums();
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string csv_of(const RunSums& run) {
  std::string text;
  profile_csv(run.profile, [&](const std::string& part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("a file of sums has the profile of its run") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("sums", small_sums());
  CHECK(is_run_sums(path));
  const auto run = read_run_sums(path);
  CHECK(run->summary == "2 ranks, elapsed 1.25 s");
  CHECK(run->results.calls == std::vector<std::string>{"MPI_Recv", "MPI_Send", "MPI_Get"});
  CHECK(run->results.trace.command == "./app <\"in.txt\"");
  CHECK(run->results.trace.mpi_calls == 11);
  CHECK(csv_of(*run) ==
        "measured,elapsed,,,,,1.25\n"
        "measured,time,compute,0,,,0.75\n"
        "measured,time,overhead,0,,,0.0625\n"
        "measured,time,after,0,,,0.25\n"
        "measured,time,MPI_Send,0,,,0.25\n"
        "measured,time_min,MPI_Send,0,,,0.01\n"
        "measured,time_max,MPI_Send,0,,,0.1\n"
        "measured,calls,MPI_Send,0,,,5\n"
        "measured,sends,MPI_Send,0,,2,5\n"
        "measured,bytes_sent,MPI_Send,0,,2,15\n"
        "measured,calls,MPI_Get,0,,,1\n"
        "measured,receives,MPI_Get,0,,4,1\n"
        "measured,bytes_received,MPI_Get,0,,4,7\n"
        "measured,matrix_size,,0,1,,15\n"
        "measured,matrix_request,,0,1,,5\n"
        "measured,time,compute,1,,,0.4375\n"
        "measured,time,overhead,1,,,0.0625\n"
        "measured,time,before,1,,,0.25\n"
        "measured,time,MPI_Recv,1,,,0.5\n"
        "measured,time_min,MPI_Recv,1,,,0.0625\n"
        "measured,time_max,MPI_Recv,1,,,0.25\n"
        "measured,late_sender,MPI_Recv,1,,,0.125\n"
        "measured,calls,MPI_Recv,1,,,5\n"
        "measured,receives,MPI_Recv,1,,2,5\n"
        "measured,bytes_received,MPI_Recv,1,,2,15\n"
        "measured,bytes_completed,MPI_Recv,1,,,15\n"
        "measured,matrix_time,,1,0,,0.5\n"
        "measured,matrix_size,,1,0,,7\n"
        "measured,matrix_request,,1,0,,1\n");
}

TEST_CASE("a profile of sums has the shortest and the longest call, and names what it lacks") {
  const TemporaryDirectory directory;
  auto run = read_run_sums(directory.write("sums", small_sums()));
  const std::string text = profile_summary(run->profile, 100);
  CHECK_THAT(text, Contains("Min") && Contains("Max") && Contains("25.0 %"));  // 0.125 of 0.5 s
  CHECK_THAT(run->notes[0], Contains("of all messages"));
  run = read_run_sums(directory.write("sums", changed("one_of\": 1", "one_of\": 1024")));
  CHECK_THAT(run->notes[0], Contains("estimated from one of 1,024 messages"));
  run = read_run_sums(directory.write("sums", changed("known\": true", "known\": false")));
  CHECK_THAT(run->notes[0], Contains("Waits are not known"));
  run = read_run_sums(directory.write(
      "sums", changed(R"("pairs": 0, "messages": 0)", R"("pairs": 2, "messages": 3)")));
  CHECK(run->notes.back() == "The matrix lacks 2 pairs of ranks and 3 messages.");
}

TEST_CASE("calls of several lines are one row by name, and one each by call site") {
  const TemporaryDirectory directory;
  std::string text = changed("\"call_sites\": false", "\"call_sites\": true");
  const std::string call = R"({"call": ")";
  for (size_t at = 0, line = 1; (at = text.find(call, at)) != std::string::npos; ++at, ++line) {
    const size_t end = text.find(", ", at);
    text.insert(end, R"(, "call_site": "app.c:)" + std::to_string(line) + "\"");
  }
  text.replace(text.find("MPI_Get"), 7, "MPI_Send");
  const auto run = read_run_sums(directory.write("sums", text));
  CHECK(run->results.calls == std::vector<std::string>{"MPI_Recv", "MPI_Send"});
  CHECK(run->profile.ranks[0].calls[1].calls == 6);
  const std::vector<SiteRow>& sites = run->profile.sites;
  REQUIRE(sites.size() == 3);
  CHECK(sites[1].path == std::vector<std::string>{"app.c:1"});
  CHECK(sites[1].count == 5);
  CHECK(sites[1].messages == 5);
  CHECK(sites[1].bytes == 15);
  // 3 bytes are in the class from 2 to 3.
  CHECK(sites[1].smallest == 2);
  CHECK(sites[1].largest == 3);
  CHECK(sites[2].path == std::vector<std::string>{"app.c:2"});
  CHECK(sites[2].count == 1);
}

TEST_CASE("a damaged file of sums is refused, wherever it ends") {
  const TemporaryDirectory directory;
  const std::string whole = small_sums();
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    const std::string path = directory.write("sums", whole.substr(0, size));
    CHECK_THROWS_AS(read_run_sums(path), InputError);
    CHECK(is_run_sums(path) == (size >= std::string(R"({"kind": "rubato sums")").size()));
  }
  struct Damage {
    const char *from, *to, *why;
  };
  for (const auto& [from, to, why] :
       {Damage{"\"calls\": 5", "\"calls\": -5", "rank 0: call 0: calls is not a count;"},
        Damage{"\"time\": 0.25", "\"time\": \"1 s\"", "rank 0: call 0: time is not a number;"},
        Damage{"MPI_Get\"", "MPI_Get\", \"call_site\": 7",
               "rank 0: call 1: call_site is not text;"},
        Damage{"\"waits\": null", "\"waits\": 1", "rank 0: call 1: late_sender is missing;"},
        Damage{"\"call\": \"MPI_Recv\"", "\"call\": 5", "rank 1: call 0: call is not text;"},
        Damage{"\"calls\": [{", "\"calls\": [5, {", "rank 0: call 0: calls is missing;"},
        Damage{"\"stopped\": false", "\"stopped\": 0", "rank 0: stopped is not true or false;"},
        Damage{"\"threads\": 1, ", "", "rank 0: threads is missing;"},
        Damage{"\"node\": 0,", "\"steps\": \"\",", "rank 0: node is missing;"},
        Damage{"\"node\": 0,", "\"node\": 0, \"steps\": [],", "rank 0: steps is not text;"},
        Damage{"\"peers\": [", "\"peers\": 1, \"none\": [", "rank 0: peers is not a list;"},
        Damage{"\"elapsed\": 1.25", "\"elapsed\": true", "elapsed is not a number;"},
        Damage{"\"elapsed\": 1.25", "\"elapsed\": 1e999", "a number is too large (after 0 ranks);"},
        Damage{"\"command\": ", "\"commands\": ", "command is missing;"},
        Damage{"\"peer\": 1", "\"peer\": 2", "a rank has a peer that is no rank"},
        Damage{"\"peer\": 1", "\"peer\": 99999999999", "a rank has a peer that is no rank"},
        Damage{"\"format\": 1", "\"format\": 2", "its format is 2, and this version reads 1"},
        Damage{"\"sizes\": [{", "\"sizes\": [{\"size\": 0.5}, {",
               "rank 0: call 0: size is not a count"},
        Damage{"\"rank\": 1", "\"rank\": 0", "rank 1: its number is 0"},
        Damage{"\"ranks\": [", "\"ranks\": [1, ", "'ranks' is no list of ranks"}}) {
    CHECK_THROWS_WITH(read_run_sums(directory.write("sums", changed(from, to))),
                      Contains(std::string("sums: the sums cannot be read: ") + why));
  }
  CHECK_THROWS_AS(read_run_sums(directory.path() / "none"), InputError);
  const auto many = changed("\"threads\": 1", "\"threads\": 2147483647");  // of another rank 1 more
  CHECK(read_run_sums(directory.write("sums", many))->results.trace.locations == 2147483647);
}

TEST_CASE("a file of sums may have other white space, and a time that was not finite") {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("sums", "{\n  \"kind\" : \"rubato sums\"" +
                                  changed("\"compute\": 0.75", "\"compute\": null")
                                      .substr(std::string(R"({"kind": "rubato sums")").size()));
  CHECK(is_run_sums(path));
  const auto run = read_run_sums(path);
  CHECK(run->profile.ranks[0].compute == 0);
  CHECK(run->profile.ranks[1].compute == 0.4375);
}

TEST_CASE("compute of a file of sums is without the cost of recording, unless the file is older") {
  const TemporaryDirectory directory;
  const auto run = read_run_sums(directory.write("sums", small_sums()));
  CHECK(run->results.scenarios[0].ranks[0].compute == 0.8125);  // 0.75 + 0.0625, as of an archive
  CHECK_THAT(run->notes[1], Contains("Times of calls contain the cost of recording them."));
  std::string older = small_sums();
  const std::string key = "\"overhead\": 0.0625, ";
  for (size_t at = 0; (at = older.find(key)) != std::string::npos;) older.erase(at, key.size());
  const auto old = read_run_sums(directory.write("older", older));
  CHECK(old->profile.ranks[0].compute == 0.75);
  CHECK(old->profile.ranks[0].overhead == 0);
  CHECK_THAT(old->notes[1], Contains("Compute contains the cost of recording."));
}

TEST_CASE("a reader of sums skips keys that it does not know") {
  const TemporaryDirectory directory;
  const auto run = read_run_sums(directory.write(
      "sums", changed("\"ranks\": [", "\"nodes\": [{\"name\": \"a\"}], \"ranks\": [")));
  CHECK(run->profile.ranks.size() == 2);
}
